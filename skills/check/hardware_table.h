#pragma once
/* hardware_table: checked numbers about NVIDIA's data centre GPUs, each with its source
 * document (hardware_table.txt).
 *
 * A number is right for a claim if it is any of a quantity's values for the device: data
 * sheets round differently, and boards of the same name differ. */
#include "base/mem.h"

enum hardware_quantity {
    HARDWARE_SM_COUNT,
    HARDWARE_WARP_SIZE,
    HARDWARE_THREADS_PER_SM,
    HARDWARE_WARPS_PER_SM,
    HARDWARE_BLOCKS_PER_SM,
    HARDWARE_THREADS_PER_BLOCK,
    HARDWARE_REGISTERS_PER_SM,
    HARDWARE_REGISTERS_PER_THREAD,
    HARDWARE_SHARED_PER_SM,    /* bytes */
    HARDWARE_SHARED_PER_BLOCK, /* bytes, the most with opt-in */
    HARDWARE_L1_AND_SHARED,    /* bytes, the unified store of an SM */
    HARDWARE_L2,               /* bytes */
    HARDWARE_MEMORY,           /* bytes, by 1000s and 1024s alike: GB */
    HARDWARE_BANDWIDTH,        /* bytes per second */
    HARDWARE_BOOST_CLOCK,      /* Hz */
    HARDWARE_FP64,             /* operations per second, likewise below; dense */
    HARDWARE_FP64_TENSOR,
    HARDWARE_FP32,
    HARDWARE_TF32,
    HARDWARE_FP16,
    HARDWARE_FP8,
    HARDWARE_INT8,
    HARDWARE_CUDA_CORES,
    HARDWARE_CORES_PER_SM, /* FP32 lanes */
    HARDWARE_TENSOR_CORES,
    HARDWARE_BANKS,
    HARDWARE_CLUSTER_PORTABLE,
    HARDWARE_CLUSTER_MAX,
    HARDWARE_CAPABILITY, /* 9.0 as 90 */
};
struct hardware_quantity_row {
    const char *name; /* "shared memory per SM" */
    enum hardware_quantity quantity;
    /* one with similar names: its values count as right, too */
    enum hardware_quantity alike;
    double tolerance; /* permitted error of a rounded number */
};
const struct hardware_quantity_row *hardware_quantity(enum hardware_quantity quantity);

#define HARDWARE_VALUES 6
struct hardware_fact {
    const char *device; /* "H100", "A100", "9.0" … : see hardware_devices */
    const char *board;  /* "SXM", "PCIe", "NVL", "40 GB" or "" for all */
    const char *shown;  /* values[0] as a person writes it: "228 KB" */
    const char *source;
    enum hardware_quantity quantity;
    double values[HARDWARE_VALUES]; /* messages name values[0]; 0 ends the list */
};
extern const struct hardware_fact hardware_table[];
extern const size_t hardware_table_count;

struct hardware_device {
    const char *name;
    /* the row with the values that all devices of a capability share */
    const char *capability;
    const char *words; /* lower case; one of them occurs where it is named */
    const char *regex; /* how it is named in a text */
};
extern const struct hardware_device hardware_devices[];
extern const size_t hardware_device_count;

struct hardware_feature {
    const char *name;
    const char *regex;
    const char *capability; /* the first with this feature: "8.0", "9.0a" */
    const char *source;
    int minimum; /* 80 */
};
extern const struct hardware_feature hardware_features[];
extern const size_t hardware_feature_count;
