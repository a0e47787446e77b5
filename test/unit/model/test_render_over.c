/* SPDX-License-Identifier: MIT
 *
 * What lies on top of a document, given as a list, shows as the same tree would.
 */
#include "lib/strbuf.h"
#include "test/unit/model/doc.h"

/* The same of a list as of a tree. */
static void assert_over(enum api_version v, const char *stored, const struct over *list, size_t n,
                        const char *tree, const char *expected)
{
    struct strbuf of_list = STRBUF_INIT, of_tree = STRBUF_INIT;
    json_t *over = doc_parse(tree);
    struct rendering what = {
        .schema = &schema_job, .version = v, .stored = stored, .over = list, .n = n};
    struct arena a;
    struct over *same;
    arena_init(&a);
    schema_render(&of_list, &what);
    what.n = doc_over(&a, over, &same);
    what.over = same;
    schema_render(&of_tree, &what);
    assert_string_equal(of_list.s, of_tree.s);
    assert_string_equal(of_list.s, expected);
    json_decref(over);
    arena_free(&a);
    strbuf_free(&of_list);
    strbuf_free(&of_tree);
}

TEST(a_list_lies_on_top_as_a_tree_does)
{
    const char *stored = "{\"name\":\"stored\",\"properties\":{\"nodeCount\":2,\"cluster\":{"
                         "\"id\":\"c\"},\"executionState\":\"queued\"}}";
    const char *errors = "[{\"code\":\"C\",\"message\":\"M\\t\"}]";
    const struct over info[] = {SHOW_TEXT("startTime", NULL), SHOW_INT("exitCode", -7),
                                SHOW_DOC("errors", errors)};
    const struct over properties[] = {
        SHOW_TEXT("executionState", "running"),
        SHOW_TEXT("nodeCount", "of another kind"),
        SHOW_TEXT("provisioningState", "no such state"),
        SHOW_TEXT("nothing", "is called so"),
        SHOW_TEXT("creationTime", "a \"quoted\" \\ text of \x01\x1f\x7f and more \xc3\xa9"),
        SHOW_OBJECT("executionInfo", info)};
    const struct over top[] = {
        SHOW_OBJECT("properties", properties), SHOW_TEXT("type", ""),
        SHOW_TEXT("id", "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/"
                        "migrated/experiments/migrated/jobs/j"),
        SHOW_TEXT("name", NULL)};
    const char *tree =
        "{'id': '/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/migrated/"
        "experiments/migrated/jobs/j', 'type': '', 'properties': {'executionState': 'running', "
        "'nodeCount': 'of another kind', 'provisioningState': 'no such state', 'nothing': 'is', "
        "'creationTime': 'a \\u0022quoted\\u0022 \\\\ text of \\u0001\\u001f\x7f and more "
        "\xc3\xa9', "
        "'executionInfo': {'exitCode': -7, 'errors': [{'code': 'C', 'message': 'M\\t'}]}}}";
    const char *rest =
        "\"name\":\"stored\",\"type\":\"\",\"properties\":{\"cluster\":{\"id\":\"c\"},"
        "\"creationTime\":\"a \\\"quoted\\\" \\\\ text of \\u0001\\u001F\x7f and more \xc3\xa9\","
        "\"executionState\":\"running\",\"executionInfo\":{\"exitCode\":-7,\"errors\":[{"
        "\"code\":\"C\",\"message\":\"M\\t\"}]}}}";
    char newest[900], flat[900];
    snprintf(newest, sizeof newest,
             "{\"id\":\"/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/"
             "migrated/experiments/migrated/jobs/j\",%s",
             rest);
    snprintf(flat, sizeof flat,
             "{\"id\":\"/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/jobs/j\",%s",
             rest);
    assert_over(V_2018_05_01, stored, top, 4, tree, newest);
    assert_over(V_2017_09_01_PREVIEW, stored, top, 4, tree, flat);
}

/* One name is shown by one row: the writer looks no further than the first. */
static void assert_distinct(const struct schema *s, enum api_version v, int depth)
{
    const unsigned hidden = FIELD_SECRET | FIELD_INPUT_ONLY | FIELD_DISCARD;
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct field *f = &s->fields[i];
        if ((f->flags & hidden) || (f->versions && !(f->versions & (unsigned)v)))
            continue;
        const char *name = f->canon ? f->canon : f->name;
        for (size_t k = 0; k < i; k++) {
            const struct field *g = &s->fields[k];
            bool shown = !(g->flags & hidden) && (!g->versions || (g->versions & (unsigned)v));
            if (shown && strcmp(name, g->canon ? g->canon : g->name) == 0)
                fail_msg("%s: two rows show %s in %s", s->name, name, api_version_name(v));
        }
        if (f->sub && depth < 8)
            assert_distinct(f->sub, v, depth + 1);
    }
}

TEST(each_name_has_one_row)
{
    static const struct schema *const all[] = {&schema_job, &schema_cluster, &schema_file_server,
                                               &schema_workspace, &schema_experiment};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (unsigned v = 1; v & V_ALL; v <<= 1)
            assert_distinct(all[i], (enum api_version)v, 0);
}
