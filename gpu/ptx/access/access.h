#pragma once
/* access: loads and stores.
 *
 * Fast paths (access_lanes.c, compiled for each vector extension) do what is inside one
 * allocation or shared memory, aligned; everything else goes lane by lane
 * (access_slow.c), where findings are made. An access that is not allowed is left out: a
 * load gives 0 then. */
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

/* Where `bytes` bytes of a lane lie, checked; NULL after a finding. Atomics, which read
 * and write, use it too: what they do to an input is told by access_atomic_changed.
 * *ret_shadow: of the first byte's word, may be NULL. space GENERIC is resolved. Global
 * and shared only. */
uint8_t *access_resolve(struct warp *w, const struct step *s, unsigned lane,
                        uint64_t address, enum ptx_space space, unsigned bytes,
                        bool reads, bool writes, uint8_t **ret_shadow);

/* An atomic has made something else of what was there: of an input that is a finding. */
void access_atomic_changed(struct warp *w, const struct step *s, unsigned lane,
                           uint64_t address, unsigned bytes);

/* A range of bytes that is copied as a whole; align: a power of two. */
struct access_range {
    struct warp *warp;
    const struct step *step;
    unsigned lane;
    unsigned align;
    uint64_t address, bytes;
    bool reads, writes;
};
/* The block in whose shared memory the range lies (remote: that of any block of the
 * cluster will do), and where; NULL after a finding. What is written is the caller's to
 * note in the shadow. */
struct block *access_shared_range(const struct access_range *r, bool remote,
                                  uint64_t *ret_offset);
/* Likewise of global memory. */
struct allocation *access_global_range(const struct access_range *r,
                                       uint64_t *ret_offset);

/* Notes bytes that a kernel has written. */
void access_shadow_set(uint8_t *shadow, uint64_t offset, uint64_t bytes);

/* Of a parameter area in the arena: dst/src[0], step->offset within it. */
step_run *step_area_load(unsigned bytes);
step_run *step_area_store(unsigned bytes);

/* Bytes that a step reads of the launch's parameters for all lanes; 0: another step. */
unsigned step_param_bytes(const struct step *s);

lower_family lower_access, lower_discard;
