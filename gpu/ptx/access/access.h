#pragma once
/* access: loads and stores.
 *
 * Fast paths (access_lanes.c, compiled for each vector extension) handle aligned accesses
 * inside one allocation or shared memory; all other accesses go lane by lane
 * (access_slow.c), which makes the findings. A forbidden access is skipped; such a load
 * gives 0. */
#include "gpu/ptx/lower/lower.h"
#include "gpu/ptx/state/run.h"

enum access_place { ACCESS_GLOBAL, ACCESS_SHARED, ACCESS_GENERIC, ACCESS_PLACES };

/* By [is_store][place][log2 bytes][log2 count]. */
typedef step_run *access_table[2][ACCESS_PLACES][4][3];
extern const access_table access_table_baseline;
extern const access_table access_table_avx2;
extern const access_table access_table_avx512;
extern const access_table access_table_neon;

/* The lanes of mask at these addresses of a space. */
void access_slow(struct warp *w, const struct step *s, uint32_t mask,
                 const uint64_t addresses[WARP_LANES], enum ptx_space space);
/* Offsets in the warp's local memory. */
void access_local(struct warp *w, const struct step *s, uint32_t mask,
                  const uint64_t offsets[WARP_LANES]);
void access_generic_mixed(struct warp *w, const struct step *s, uint32_t mask,
                          const uint64_t addresses[WARP_LANES]);

/* The host address of a lane's `bytes` bytes after checking them; NULL after a finding.
 * Also for atomics, whose changes of inputs access_atomic_changed reports. *ret_shadow:
 * of the first byte's word, may be NULL. Resolves the GENERIC space. Global and shared
 * memory only. */
uint8_t *access_resolve(struct warp *w, const struct step *s, unsigned lane,
                        uint64_t address, enum ptx_space space, unsigned bytes,
                        bool reads, bool writes, uint8_t **ret_shadow);

/* An atomic has changed a value: a finding if it is an input. */
void access_atomic_changed(struct warp *w, const struct step *s, unsigned lane,
                           uint64_t address, unsigned bytes);

/* A range of bytes that a copy accesses; align: a power of two. */
struct access_range {
    struct warp *warp;
    const struct step *step;
    unsigned lane;
    unsigned align;
    uint64_t address, bytes;
    bool reads, writes;
};
/* The block whose shared memory contains the range (remote: of any block of the cluster),
 * and the offset; NULL after a finding. The caller must mark written bytes in the
 * shadow. */
struct block *access_shared_range(const struct access_range *r, bool remote,
                                  uint64_t *ret_offset);
/* The same for global memory. */
struct allocation *access_global_range(const struct access_range *r,
                                       uint64_t *ret_offset);

/* Marks bytes as written by a kernel. */
void access_shadow_set(uint8_t *shadow, uint64_t offset, uint64_t bytes);

/* Steps for a parameter area in the arena: dst/src[0], with step->offset within it. */
step_run *step_area_load(unsigned bytes);
step_run *step_area_store(unsigned bytes);

/* The number of bytes of the launch's parameters that a step reads for all lanes; 0 if it
 * reads none. */
unsigned step_param_bytes(const struct step *s);

lower_family lower_access, lower_discard;
