/* SPDX-License-Identifier: MIT
 *
 * The settings of the lists of records: inventory, mounts, file_servers.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "daemon/config/config_checks.h"
#include "daemon/config/config_table.h"

#define INT    SETTING_ROW_INT
#define ROW    SETTING_ROW
#define CHOICE SETTING_ROW_CHOICE
#define KIND(noun_, rows, type, check_, example_)                                                  \
    {                                                                                              \
        .noun = noun_, .fields = {rows, sizeof rows / sizeof rows[0]}, .size = sizeof(type),       \
        .check = check_, .example = example_                                                       \
    }

/* --- inventory ------------------------------------------------------------------------------ */

static const char *const priorities[] = {"dedicated", "lowpriority", NULL};

#define AT(field) offsetof(struct config_group, field)
static const struct setting group_rows[] = {
    ROW(SETTING_TEXTS, "", "hosts", AT(hosts), NULL, NULL, "gpu[01-16].rack1",
        "The machines: names and IP addresses, separated by commas or as a list. "
        "gpu[01-16,20].rack1 stands for many; a port may follow: gpu01:2222, [fd00::1]:2222."),
    ROW(SETTING_STR, "", "user", AT(user), "", config_check_account, "batchai",
        "The account to log in as. Empty: the name of the daemon's account."),
    ROW(SETTING_STR, "", "identity", AT(identity), "", config_check_path,
        "/etc/batchaid/id_ed25519",
        "The private key for the login, as `batchaid keygen` makes it. Empty, without "
        "password_file and agent_socket: id_ed25519 in the state directory."),
    ROW(SETTING_STR, "", "password_file", AT(password_file), "", config_check_path,
        "/etc/batchaid/rack1.password",
        "A file with the password for the login, closed to others (mode 0600). A "
        "reload reads it again."),
    ROW(SETTING_STR, "", "agent_socket", AT(agent_socket), "", config_check_path,
        "/run/batchaid/ssh-agent", "The socket of an ssh-agent that has the key for the login."),
    ROW(SETTING_STR, "", "become", AT(become), "none", config_check_one_line, "sudo",
        "The command that gives root on the machine, for mounts, accounts and setup tasks. sudo "
        "means `sudo -n`; another command is put before the command to run; none: no root."),
    ROW(SETTING_STR, "", "node_root", AT(node_root), "/mnt/batch/tasks/shared/LS_root",
        config_check_needed_path, "/mnt/batch/tasks/shared/LS_root",
        "The directory on the machine below which mounts and jobs are."),
    ROW(SETTING_STR, "", "job_user", AT(job_user), "", config_check_account, "jobs",
        "The account of jobs, where the agent is root. Empty: each job has its own."),
    ROW(SETTING_LIST, "", "vm_sizes", AT(vm_sizes), "", config_check_vm_size, "[STANDARD_NC6]",
        "The VM sizes that these machines serve; an empty list allows any."),
    CHOICE(SETTING_STR, "", "priority", AT(priority), "dedicated", priorities,
           "The clusters that these machines serve."),
    INT("", "slots", AT(slots), "0", 0, 100000,
        "The slots of each machine. A job of a part of a node takes at least one slot, so this is "
        "the most jobs on a machine. 0: as many as cores."),
    INT("", "fake_gpus", AT(fake_gpus), "0", 0, 1024,
        "For tests: the fake GPUs of a machine without GPUs."),
    ROW(SETTING_STR, "", "health_command", AT(health_command), "", config_check_one_line,
        "/usr/local/sbin/node-health",
        "A command that the machine's shell runs regularly, as root where the agent is root. If it "
        "fails, the machine is drained. Empty: none."),
    INT("", "health_interval_s", AT(health_interval_s), "300", 1, 86400,
        "The seconds between two runs of health_command."),
};
#undef AT

static int check_group(const void *record, const char **key, struct err *e)
{
    static const char *const no_commands[] = {"", "true", "false", "yes", "no", "on", "off"};
    const struct config_group *g = record;
    *key = "become";
    for (size_t i = 0; i < sizeof no_commands / sizeof no_commands[0]; i++)
        if (strcasecmp(g->become, no_commands[i]) == 0)
            return err_set(e, ERR_CONFIG, NULL,
                           "'%s' is not a valid command; use sudo, another command or none",
                           g->become);
    return 0;
}

const struct record_kind config_inventory_kind =
    KIND("groups of machines", group_rows, struct config_group, check_group,
         "- hosts: gpu[01-16].rack1\n"
         "  user: batchai\n"
         "  identity: /etc/batchaid/id_ed25519\n"
         "  vm_sizes: [STANDARD_NC6]\n"
         "  become: sudo\n"
         "- hosts: [\"10.0.0.[1-4]:2222\", \"[fd00::5]:2222\"]\n"
         "  user: batchai\n"
         "  password_file: /etc/batchaid/rack2.password\n"
         "  priority: lowpriority\n");

/* --- mounts --------------------------------------------------------------------------------- */

static const char *const kinds[] = {"files", "blobs", "any", NULL};
static const char *const mount_types[] = {"local", "bind",      "nfs",     "cifs",
                                          "sshfs", "blobfuse2", "command", NULL};

#define AT(field) offsetof(struct config_mount, field)
static const struct setting mount_rows[] = {
    ROW(SETTING_STR, "", "match", AT(match), "*/*", config_check_match, "mystorage/data-*",
        "The account and the share or container of this rule: two patterns with * and ?, separated "
        "by a slash."),
    CHOICE(SETTING_STR, "", "kind", AT(kind), "any", kinds,
           "Whether the rule is for file shares, for blob containers, or for both."),
    CHOICE(SETTING_STR, "", "type", AT(type), NULL, mount_types,
           "local: a link to a folder of the machine; bind, nfs, cifs: by mount; sshfs, blobfuse2: "
           "by that program; command: by your command."),
    ROW(SETTING_STR, "", "source", AT(source), "", config_check_mount_text,
        "nas1:/export/{account}/{share}",
        "The source. local, bind: a folder of the machine; nfs: HOST:/path; cifs: //HOST/SHARE; "
        "sshfs: [USER@]HOST:[PATH]; blobfuse2: the endpoint. Without it cifs and blobfuse2 use the "
        "volume of Azure, or of the host in its azureFileUrl."),
    ROW(SETTING_STR, "", "options", AT(options), "", config_check_mount_text, "vers=4.2,noatime",
        "Options of the mount, as after -o."),
    ROW(SETTING_STR, "", "command", AT(command), "", config_check_mount_text,
        "mount.mine --key-file {key} {account} {share} {target}",
        "With type: command, the shell command that mounts it at {target}."),
    ROW(SETTING_STR, "", "unmount", AT(unmount), "", config_check_mount_text,
        "umount.mine {target}", "The shell command that unmounts it. Empty: umount."),
};
#undef AT

static bool is_folder(const char *source)
{
    return *source == '/' && source[1] != '/';
}

static bool is_unc(const char *source)
{
    if (!*source)
        return true;
    return strncmp(source, "//", 2) == 0 && source[2] && source[2] != '/' &&
           strchr(source + 2, '/');
}

static bool is_remote(const char *source)
{
    return *source != '-' && *source != ':' && strchr(source, ':');
}

/* HOST or a URL. */
static bool is_endpoint(const char *source)
{
    const char *scheme = strstr(source, "://");
    return *source != '/' && *source != '-' && (!scheme || scheme > source);
}

static bool is_absent(const char *source)
{
    return !*source;
}

static const struct {
    const char *type;
    bool (*source_is_right)(const char *source);
    const char *needed;
} source_rules[] = {
    {"local", is_folder, "a folder of the machine, as in /srv/{account}/{share}"},
    {"bind", is_folder, "a folder of the machine, as in /srv/{account}/{share}"},
    {"nfs", config_is_export, "HOST:/path, as in nas1:/export/{share}"},
    {"cifs", is_unc, "//HOST/SHARE, as in //nas1/{share}, or none"},
    {"sshfs", is_remote, "[USER@]HOST:[PATH], as in data@nas1:/srv/{share}"},
    {"blobfuse2", is_endpoint, "HOST or a URL, or none"},
    {"command", is_absent, "no source: what is mounted stands in the command"},
};

static int check_mount(const void *record, const char **key, struct err *e)
{
    const struct config_mount *m = record;
    bool is_command = strcmp(m->type, "command") == 0;
    *key = "command";
    if (is_command && !*m->command)
        return err_set(
            e, ERR_CONFIG, NULL,
            "type command needs a command, as in command: mount.mine {account} {share} {target}");
    if (!is_command && *m->command)
        return err_set(e, ERR_CONFIG, NULL, "type %s has no command; use type: command", m->type);
    *key = "source";
    for (size_t i = 0; i < sizeof source_rules / sizeof source_rules[0]; i++)
        if (strcmp(source_rules[i].type, m->type) == 0 &&
            !source_rules[i].source_is_right(m->source))
            return err_set(e, ERR_CONFIG, NULL,
                           "'%s' is not a valid source for type %s; it needs %s", m->source,
                           m->type, source_rules[i].needed);
    return 0;
}

const struct record_kind config_mount_kind =
    KIND("rules", mount_rows, struct config_mount, check_mount,
         "- match: mystorage/data-*\n"
         "  kind: files\n"
         "  type: nfs\n"
         "  source: nas1:/export/{share}\n"
         "  options: vers=4.2,noatime\n"
         "- match: \"scratch*/*\"\n"
         "  type: sshfs\n"
         "  source: data@nas2:/srv/{account}/{share}\n"
         "- kind: files\n"
         "  type: cifs\n"
         "- kind: blobs\n"
         "  type: blobfuse2\n");

/* --- file_servers --------------------------------------------------------------------------- */

#define AT(field) offsetof(struct config_file_server, field)
static const struct setting file_server_rows[] = {
    ROW(SETTING_STR, "", "name", AT(name), "*", config_check_not_empty, "nfs-*",
        "The file servers of this rule: a pattern with * and ?."),
    ROW(SETTING_STR, "", "nfs", AT(nfs), "", config_check_export, "nas1:/export/{workspace}/{name}",
        "An existing NFS export: HOST:/path."),
    ROW(SETTING_STR, "", "machine", AT(machine), "", NULL, "gpu01.rack1",
        "A machine of the inventory that exports directory by NFS."),
    ROW(SETTING_STR, "", "directory", AT(directory), "", config_check_server_path, "/srv/{name}",
        "The directory on that machine; it is made if missing."),
    ROW(SETTING_STR, "", "options", AT(options), "", config_check_one_line, "vers=4.2",
        "Options of the mount, as after -o."),
};
#undef AT

static int check_file_server(const void *record, const char **key, struct err *e)
{
    const struct config_file_server *f = record;
    *key = "nfs";
    if (*f->nfs && (*f->machine || *f->directory))
        return err_set(e, ERR_CONFIG, NULL,
                       "there is a machine or directory as well; use either nfs, or machine and "
                       "directory");
    if (!*f->nfs && !*f->machine && !*f->directory)
        return err_set(e, ERR_CONFIG, NULL,
                       "no server is named; use nfs: HOST:/path, or machine and directory");
    *key = *f->machine ? "directory" : "machine";
    if (!*f->nfs && (!*f->machine || !*f->directory))
        return err_set(e, ERR_CONFIG, NULL, "it is missing; machine and directory go together");
    return 0;
}

const struct record_kind config_file_server_kind =
    KIND("rules", file_server_rows, struct config_file_server, check_file_server,
         "- name: scratch-*\n"
         "  machine: gpu01.rack1\n"
         "  directory: /srv/{workspace}/{name}\n"
         "- nfs: nas1:/export/{workspace}/{name}\n"
         "  options: vers=4.2\n");
