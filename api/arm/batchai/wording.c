/* SPDX-License-Identifier: MIT */
#include "api/arm/batchai/wording.h"

#include <string.h>

static const struct {
    const char *newest, *flat;
} types[] = {
    {"Microsoft.BatchAI/workspaces/clusters", "Microsoft.BatchAI/Clusters"},
    {"Microsoft.BatchAI/workspaces/fileservers", "Microsoft.BatchAI/FileServers"},
    {"Microsoft.BatchAI/workspaces/experiments/jobs", "Microsoft.BatchAI/Jobs"},
};

const char *word_type(enum api_version v, const char *type)
{
    for (size_t i = 0; (v & V_FLAT) && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].newest, type) == 0)
            return types[i].flat;
    return type;
}

/* Messages as recorded from the real service, including blanks. A stored message is replaced only
 * if it equals `message`; longer messages (with a signal, a node) are kept. message NULL: those
 * versions have the same messages. */
static const struct error_wording {
    unsigned versions;
    const char *code, *then_code;
    const char *message, *then_message;
} wordings[] = {
    {V_FLAT, "JobTerminated", "JobTerminate", NULL, NULL},
    {V_2017_09_01_PREVIEW, "JobPreparationFailed", "JobNodePreparationFailed",
     "Job preparation task failed with non-zero exit code",
     " job node preparation task failed with non-zero exit code"},
    {V_2017_09_01_PREVIEW, "JobFailed", "JobFailed", "Job failed with non-zero exit code",
     " job failed with non-zero exit code"},
};

static void word_error(const struct error_wording *w, json_t *error)
{
    const char *message = json_string_value(json_object_get(error, "message"));
    json_object_set_new(error, "code", json_string(w->then_code));
    if (w->message && message && strcmp(message, w->message) == 0)
        json_object_set_new(error, "message", json_string(w->then_message));
}

static const struct error_wording *wording_of(enum api_version v, const json_t *error)
{
    const char *code = json_string_value(json_object_get(error, "code"));
    for (size_t i = 0; code && i < sizeof wordings / sizeof wordings[0]; i++)
        if ((wordings[i].versions & (unsigned)v) && strcmp(wordings[i].code, code) == 0)
            return &wordings[i];
    return NULL;
}

void word_errors(enum api_version v, json_t *errors)
{
    for (size_t i = 0; i < json_array_size(errors); i++) {
        json_t *error = json_array_get(errors, i);
        const struct error_wording *w = wording_of(v, error);
        if (w)
            word_error(w, error);
    }
}
