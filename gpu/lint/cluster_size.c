/* Rule: a cluster of more blocks than the device, or any GPU, is sure to have. */
#include "gpu/lint/lint.h"

void lint_cluster_size(const struct lint_kernel *k, const struct lint_launch *l) {
    const int *cluster = l->cluster[0] > 0 ? l->cluster : k->cluster;
    const struct device_limits *d = k->device;
    int blocks = lint_count(cluster);
    if (blocks <= 1) {
        return;
    }
    if (d->max_cluster == 0) {
        lint_report(k, "cluster_too_large", lint_fatal(k),
                    "%s is for clusters of %d blocks, which %s does not have", k->name,
                    blocks, d->arch);
    } else if (blocks > d->max_cluster) {
        lint_report(k, "cluster_too_large", lint_fatal(k),
                    "a cluster of %d blocks is more than the %d the device allows",
                    blocks, d->max_cluster);
    } else if (blocks > d->portable_cluster) {
        lint_report(
            k, "cluster_too_large", FINDING_WARNING,
            "a cluster of %d blocks is more than the portable %d: it needs "
            "cudaFuncAttributeNonPortableClusterSizeAllowed and may not fit every GPU",
            blocks, d->portable_cluster);
    }
}
