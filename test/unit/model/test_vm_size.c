/* SPDX-License-Identifier: MIT */
#include "model/vm_size.h"
#include "test/unit/support/tests.h"

TEST(test_names_of_the_service_are_known_and_slips_are_not)
{
    static const char *const azures[] = {"Standard_NC6",
                                         "STANDARD_D1",
                                         "standard_d2s_v3",
                                         "Standard_NC24ads_A100_v4",
                                         "Standard_HB120-16rs_v3",
                                         "Standard_ND96asr_v4",
                                         "Basic_A1",
                                         "Standard_NV6_Promo",
                                         "Standard_NC4as_T4_v3",
                                         "Standard_DS11-1_v2"};
    static const char *const slips[] = {"",
                                        "Standard_",
                                        "Standrd_NC6",
                                        "NC6",
                                        "Standard_NC",
                                        "Standard_XY6",
                                        "Standard-NC6",
                                        "Standard_NC6_",
                                        "Standard_NC6 ",
                                        "gpu-box",
                                        "Standard_6",
                                        "Standard_NC6__v3"};
    for (size_t i = 0; i < sizeof azures / sizeof azures[0]; i++)
        assert_true(vm_size_is_published(azures[i]));
    for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++)
        assert_false(vm_size_is_published(slips[i]));
}
