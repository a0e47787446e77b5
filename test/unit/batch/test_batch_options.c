/* SPDX-License-Identifier: MIT
 *
 * What a task's containerSettings become: options that everybody may give, and registries.
 */
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <string.h>

#include "front/batch/front_priv.h"
#include "model/batch/pool_spec.h"

static struct batch_container logins[] = {
    {.server = "https://one.example/v2", .user = "u1", .password = "p1"},
    {.server = "two.example", .user = "u2", .password = "p2"},
};
static struct batch_pool_containers containers = {.registries = logins, .n_registries = 2};
static const struct batch_pool_spec pool_spec = {.containers = &containers};
static const struct batch_pool pool = {.doc = "{}"};

struct made {
    struct place_spec place;
    struct job_spec job;
};

static struct made make(struct arena *a, const struct batch_pool_spec *s, const char *options,
                        bool any)
{
    struct batch_container *c = arena_alloc(a, sizeof *c);
    *c = (struct batch_container){.image = "i", .options = options};
    struct made m = {.place = {.dir = "d"}};
    m.job.container = batch_container(a, &pool, s, c, any, &m.place);
    return m;
}

static const char *words_of(struct arena *a, const struct container_spec *c)
{
    const char *text = "";
    for (size_t i = 0; i < c->n_options; i++)
        text = arena_concat(a, text, "<", c->options[i], ">");
    return text;
}

static void test_options(void **state)
{
    static const struct {
        const char *given, *kept; /* NULL: refused */
    } cases[] = {
        {NULL, ""},
        {"", ""},
        {"--rm -it --name x --pull=always --gpus all", ""},
        {"--env A=1 -e 'B=two words' --shm-size=1g",
         "<--env><A=1><-e><B=two words><--shm-size=1g>"},
        {"--network none --init", "<--network><none><--init>"},
        {"--env --privileged", "<--env><--privileged>"}, /* a value */
        {"--privileged", NULL},
        {"-v /:/host", NULL},
        {"--volume=/:/host", NULL},
        {"--env=A --mount type=bind,source=/,target=/host", NULL},
        {"--user root", NULL},
        {"--environment A", NULL},
        {"-eA=1", NULL},
        {"image", NULL},
        {"--env", NULL},
    };
    struct arena a;
    (void)state;
    arena_init(&a);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct made m = make(&a, &pool_spec, cases[i].given, false);
        if (cases[i].kept)
            assert_string_equal(words_of(&a, m.job.container), cases[i].kept);
        assert_int_equal(m.place.refused, cases[i].kept ? FAIL_NONE : FAIL_NOT_SERVED);
    }
    const struct made m = make(&a, &pool_spec, "--rm --privileged -v /:/host", true);
    assert_string_equal(words_of(&a, m.job.container), "<--privileged><-v></:/host>");
    assert_int_equal(m.place.refused, FAIL_NONE);
    arena_free(&a);
}

static void test_a_pool_must_have_containers(void **state)
{
    static const struct batch_pool_spec none = {.containers = NULL};
    struct arena a;
    (void)state;
    arena_init(&a);
    const struct made m = make(&a, &none, NULL, false);
    assert_int_equal(m.place.refused, FAIL_CONTAINER_RUNTIME_NOT_FOUND);
    arena_free(&a);
}

static void test_whose_registry_an_image_is_from(void **state)
{
    static const struct batch_container own = {.server = "three.example", .user = "u3"};
    struct container_spec c;
    struct arena a;
    (void)state;
    arena_init(&a);
    container_of_image(&a, &containers, "one.example/app:1", NULL, &c);
    assert_string_equal(c.user, "u1");
    assert_string_equal(c.password, "p1");
    assert_string_equal(c.server, "one.example");
    container_of_image(&a, &containers, "two.example/app", NULL, &c);
    assert_string_equal(c.user, "u2");
    container_of_image(&a, &containers, "one.example.org/app", NULL, &c);
    assert_null(c.user);
    assert_null(c.server);
    container_of_image(&a, &containers, "two.example/app", &own, &c);
    assert_string_equal(c.user, "u3");
    assert_string_equal(c.server, "three.example");
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_a_pool_must_have_containers),
        cmocka_unit_test(test_whose_registry_an_image_is_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
