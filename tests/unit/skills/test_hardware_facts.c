/* The wanted numbers stand in the sentences and were taken from NVIDIA's documents by
 * hand; the table under test is not read here. */
#include "base/json.h"
#include "base/mem.h"
#include "skills/check/skill_check.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static json_t *check(const char *text) {
    json_t *findings = json_array();
    hardware_facts_check("SKILL.md", text, strlen(text), 1, findings);
    return findings;
}

static void expect_none(const char *text) {
    autojson *findings = check(text);
    const char *message =
        json_get_string(json_array_get(findings, 0), "message", "nothing");
    cr_expect(json_array_size(findings) == 0, "%s\n  gave: %s", text, message);
}

static const char *const true_sentences[] = {
    "H100 has 132 SMs.",
    "The H100 SXM has 132 SMs, 50 MB of L2 and 80 GB of HBM3.",
    "H100 PCIe has 114 SMs.",
    "The H100 provides 228 KB of shared memory per SM.",
    "Each SM of the H100 has 228 KB of shared memory, of which a block can use up to "
    "227 KB.",
    "On H100, up to 227 KB of shared memory per block after opting in.",
    "Without opt-in a block on H100 is limited to 48 KB of shared memory per block.",
    "A100 has 108 SMs and 40 MB of L2.",
    "A100 has 164 KB of shared memory per SM.",
    "On A100 the maximum shared memory per block is 163 KB.",
    "H100: 132 SMs, A100: 108 SMs.",
    "H200 has 60 MB of L2 cache.",
    "H200 has 50 MB of L2 cache.",
    "H100 NVL has 60 TFLOPS of FP32 and 94 GB of HBM3.",
    "Compute capability 8.9 has 128 KB of combined L1 cache and shared memory per "
    "SM.",
    "Compared with the A100's 108 SMs, the H100 has 132 SMs.",
    "H100 supports up to 2048 threads per SM.",
    "H100 supports at most 64 warps per SM and 32 blocks per SM.",
    "An SM of the H100 has 65,536 registers per SM.",
    "H100 has 64K 32-bit registers per SM.",
    "On H100 at most 255 registers per thread are available.",
    "A block on H100 has at most 1024 threads per block.",
    "Compute capability 8.6 supports up to 1536 threads per SM.",
    "sm_89 supports up to 24 blocks per SM.",
    "sm_86 has 100 KB of shared memory per SM.",
    "H100 has 3.35 TB/s of memory bandwidth.",
    "H100 SXM has a peak memory bandwidth of 3.35 TB/s.",
    "H100 PCIe has a peak memory bandwidth of 2 TB/s.",
    "The H200 has 141 GB of HBM3e and 4.8 TB/s of memory bandwidth.",
    "A100 80 GB has a memory bandwidth of 2039 GB/s.",
    "A100 40 GB has a memory bandwidth of 1555 GB/s.",
    "Our kernel reaches 2.1 TB/s of memory bandwidth on H100.",
    "We measured 1.9 TB/s effective memory bandwidth on the H100.",
    "H100 delivers 989 TFLOPS of dense BF16.",
    "H100 delivers 1979 TFLOPS of FP8.",
    "H100 FP16: 1,979 TFLOPS with sparsity.",
    "A100 FP16: 312 TFLOPS.",
    "A100 has 19.5 TFLOPS of FP32.",
    "H100 has 67 TFLOPS of FP32.",
    "H100 has 34 TFLOPS of FP64.",
    "A100 TF32: 156 TFLOPS dense, 312 with sparsity.",
    "A100 boosts to 1410 MHz boost clock.",
    "H100 has 16,896 CUDA cores and 528 tensor cores.",
    "A100 has 6912 CUDA cores, 64 FP32 cores per SM.",
    "H100 has 128 FP32 cores per SM.",
    "On H100 each SM has 4 tensor cores.",
    "H100 has fourth-generation tensor cores.",
    "H100 (compute capability 9.0) and A100 (compute capability 8.0).",
    "H100 is sm_90.",
    "H100 (sm_90a) needs its own code.",
    "A100 is sm_80.",
    "cp.async requires compute capability 8.0 or higher.",
    "cp.async is supported from sm_80.",
    "cp.async.bulk requires sm_90.",
    "TMA requires compute capability 9.0.",
    "TMA needs Hopper.",
    "wgmma requires sm_90a.",
    "wgmma is only available on Hopper.",
    "Thread block clusters require compute capability 9.0.",
    "bf16 needs compute capability 8.0.",
    "FP8 conversions require compute capability 8.9.",
    "mbarrier requires compute capability 8.0.",
    "The combined L1/shared memory of an H100 SM is 256 KB of L1 cache and shared "
    "memory.",
    "A100 has 192 KB of combined L1 cache and shared memory per SM.",
    "It is a myth that H100 has 192 KB of shared memory per SM.",
    "H100 has 228 KB of shared memory per SM, not 192 KB of shared memory per SM.",
    "Our kernel uses 64 KB of shared memory per block on H100.",
    "Use 16 SMs for communication on H100.",
    "On H100 launch 256 threads per block and keep 4 blocks per SM.",
    "With 128 registers per thread on H100, 2 blocks per SM fit.",
    "H100's shared memory has 32 banks.",
    "Portable cluster size on H100 is 8.",
    "The non-portable cluster size on H100 is 16.",
    "V100 has 80 SMs and 96 KB of shared memory per SM; H100 is newer.",
    "B200 has 148 SMs while H100 has 132.",
    "H100 with MIG: one slice has 16 SMs.",
    "A full GH100 chip has 144 SMs, the H100 SXM 132.",
    "H100 NVLink offers 900 GB/s of bandwidth.",
    "The L2 of H100 is 50 MB, so a 20 MB working set stays there.",
    "An RTX 4090 (sm_89) has 128 SMs.",
    "RMSNorm on H100 is 2.67 times faster.",
    "On H100 a warp has 32 threads, and a warp group 128.",
    "The warp size of H100 is 32; an MI300X has 64.",
    "H100 runs 64 warps per SM, so use 64 threads per block (2 warps).",
    /* units in headers */
    "| GPU | Shared memory per SM (KB) | L2 [MB] |\n|---|---|---|\n| H100 | 228 | 50 "
    "|\n| A100 | 164 | 40 |\n",
    "| Quantity | Unit | H100 |\n|---|---|---|\n| Memory bandwidth | TB/s | 3.35 |\n"
    "| Shared memory per SM | KiB | 228 |\n",
    "| Setting | Shared memory per block (KB) |\n|---|---|\n| H100, tile 64 | 96 |\n",
    "| GPU | Memory bandwidth (GB/s) |\n|---|---|\n| H100 | 2410 |\n",
    "| Size | H100 (GB/s) |\n|---|---|\n| 64 MB | 2410 |\n",
    "| | A100 | H100 |\n|---|---|---|\n| SMs | 108 | 132 |\n| Shared memory per SM | "
    "164 KB | 228 KB |\n| L2 cache | 40 MB | 50 MB |\n",
    "| GPU | SMs | L2 cache | HBM |\n|---|---|---|---|\n| H100 SXM | 132 | 50 MB | "
    "80 GB |\n| A100 | 108 | 40 MB | 40 GB |\n",
    "# H100\n\n| Component | Value | Notes |\n|---|---|---|\n| Max Threads/SM | 2048 "
    "| "
    "64 warps |\n| Threads/SM | 2048 | Max 16 blocks of 128 threads per SM |\n",
    "| Component | A100 40GB | A100 80GB | Notes |\n|---|---|---|---|\n| Max "
    "Threads/SM | 2048 | 2048 | 64 warps |\n",
    "H100 threads per SM: 2048 threads, 64 warps.",
    "## H100\n\n- Shared memory: 228 KB/SM\n- SMs: 132\n- L2 cache: 50 MB\n",
    "Each H100 SM has 4 tensor cores, 4 warp schedulers and 128 FP32 cores.",
    "An H100 SM has 4 tensor cores.",
    "Each of the 132 SMs of the H100 has 4 tensor cores.",
    "Hopper: 64 warps/SM, 65536 registers/SM, 255 registers per thread.",
    "Each H100 SM has 256 KB of shared memory and L1 cache.",
    "| Kernel | H100 | A100 |\n|---|---|---|\n| Shared memory per block | 192 KB | 128 "
    "KB |\n| Threads per SM | 384 | 256 |\n",
    "| GPU | SMs | L2 | Shared/SM |\n|---|---|---|---|\n| A100 | 108 | 40 MB | 164 KB |\n"
    "| RTX 4090 | 128 | 72 MB | 100 KB |\n",
    "| Spec | H100 | A100 | V100 |\n|---|---|---|---|\n| Compute capability | 9.0 | 8.0 "
    "| "
    "7.0 |\n",
};

Test(hardware_facts, says_nothing_about_true_sentences) {
    size_t count = ARRAY_LEN(true_sentences);
    cr_assert(count >= 60);
    for (size_t i = 0; i < ARRAY_LEN(true_sentences); i++) {
        expect_none(true_sentences[i]);
    }
}

struct wrong {
    const char *text, *said, *right; /* right: what the fix writes, or NULL for no fix */
};

static void expect_wrong(const struct wrong *w) {
    autojson *findings = check(w->text);
    cr_expect(json_array_size(findings) == 1, "%zu findings for: %s",
              json_array_size(findings), w->text);
    const json_t *finding = json_array_get(findings, 0);
    if (!finding) {
        return;
    }
    cr_expect(
        eq(str, (char *)json_get_string(finding, "code", ""), "hardware_fact_wrong"));
    const char *message = json_get_string(finding, "message", "");
    cr_expect(strstr(message, w->said) != NULL, "%s: %s", w->text, message);
    const json_t *fixes = json_object_get(finding, "fixes");
    bool as_wanted = (json_array_size(fixes) > 0) == (w->right != NULL);
    cr_expect(as_wanted, "%s: %s", w->text, message);
    const json_t *edit =
        json_array_get(json_object_get(json_array_get(fixes, 0), "edits"), 0);
    if (w->right && edit) {
        cr_expect(eq(str, (char *)json_get_string(edit, "text", ""), (char *)w->right),
                  "%s", w->text);
        /* The edit replaces exactly what was said. */
        size_t column = (size_t)json_get_integer(edit, "column", 0);
        if (json_get_integer(edit, "line", 0) == 1) {
            cr_expect(strncmp(w->text + column - 1, w->said, strlen(w->said)) == 0, "%s",
                      w->text);
        }
    }
}

Test(hardware_facts, contradicts_wrong_numbers_with_the_right_one) {
    static const struct wrong table[] = {
        {"The H100 has 192 KB of shared memory per SM.", "192 KB", "228 KB"},
        {"192 KB of shared memory per SM on H100", "192 KB", "228 KB"},
        {"H100 shared memory: 192 KB/SM.", "192 KB", "228 KB"},
        {"Each SM on H100 has **192 KB** of shared memory.", "192 KB", "228 KB"},
        {"## H100 architecture\n\n| Spec | Value |\n|---|---|\n| Shared Memory | 192 "
         "KB/SM (96/144/192) |\n",
         "192 KB", "228 KB"},
        {"| | A100 | H100 |\n|---|---|---|\n| SMs | 132 | 132 |\n", "132", "108"},
        {"| GPU | SMs |\n|---|---|\n| A100 | 132 |\n", "132", "108"},
        {"cp.async requires compute capability 9.0.", "9.0", "8.0"},
        {"cp.async requires sm_90.", "90", "80"},
        {"`cp.async` is only available on Hopper.", "Hopper", NULL},
        {"TMA requires compute capability 8.0 or higher.", "8.0", "9.0"},
        {"wgmma needs sm_80.", "80", "90a"},
        {"wgmma needs sm_80a.", "80", "90"},
        {"bf16 requires compute capability 9.0.", "9.0", "8.0"},
        {"A100 has 132 SMs.", "132", "108"},
        {"H100 has 108 SMs.", "108", "132"},
        {"The H100 PCIe has 132 SMs.", "132", "114"},
        {"H100 has 40 MB of L2 cache.", "40 MB", "50 MB"},
        {"A100 has 50 MB of L2.", "50 MB", "40 MB"},
        {"A100 has 80 MB of L2 cache.", "80 MB", "40 MB"},
        {"H200 has 40 MB of L2 cache.", "40 MB", "60 MB"},
        {"H100 supports up to 1536 threads per SM.", "1536", "2048"},
        {"# H100\n\n| Spec | Value |\n|---|---|\n| Threads/SM | 1536 threads |\n", "1536",
         "2048"},
        {"H100 supports up to 48 warps per SM.", "48", "64"},
        {"A100 supports at most 16 blocks per SM.", "16", "32"},
        {"On H100 the maximum shared memory per block is 164 KB.", "164 KB", "227 KB"},
        {"H200 has 80 GB of HBM3e.", "80 GB", "141 GB"},
        {"H100 SXM has a peak memory bandwidth of 2.0 TB/s.", "2.0 TB/s", "3.35 TB/s"},
        {"A100 FP16: 989 TFLOPS.", "989 TFLOPS", "312 TFLOP/s"},
        {"H100 is sm_80.", "80", "90"},
        {"A100 (compute capability 9.0)", "9.0", "8.0"},
        {"Compute capability 8.6 supports up to 2048 threads per SM.", "2048", "1536"},
        {"Hopper has at most 512 registers per thread.", "512", "255"},
        {"```cuda\n// H100 has 192 KB of shared memory per SM\n```\n", "192 KB",
         "228 KB"},
        {"A100 has 6,144 CUDA cores.", "6,144", "6912"},
        {"A100 boost clock: 1980 MHz", "1980 MHz", "1410 MHz"},
        {"| GPU | L2 | Shared/SM |\n|---|---|---|\n| A100 | 40 MB | 192 KB |\n", "192 KB",
         "164 KB"},
        {"| Spec | H100 | A100 |\n|---|---|---|\n| Compute capability | 9.0 | 8.6 |\n",
         "8.6", "8.0"},
        {"H100 compute capability is 8.9.", "8.9", "9.0"},
        {"Each H100 SM has up to 200 KB of shared memory.", "200 KB", "228 KB"},
        {"The maximum number of resident threads per SM on the H100 is 1536.", "1536",
         "2048"},
        {"H100's max registers per thread is 512.", "512", "255"},
        {"On Hopper, the shared memory per multiprocessor is 192 kilobytes.",
         "192 kilobytes", "228 KB"},
        {"A block on H100 can use at most 228 KB of shared memory.", "228 KB", "227 KB"},
        {"On H100 the warp size is 64.", "64", "32"},
        {"H100: 64 threads per warp.", "64", "32"},
        {"A warp on the H100 has 64 threads.", "64", "32"},
        {"| GPU | Warp size |\n|---|---|\n| A100 | 16 |\n", "16", "32"},
        /* The unit stands in the table's header: the number alone is replaced. */
        {"| GPU | Shared memory per SM (KB) |\n|---|---|\n| H100 | 192 |\n", "192",
         "228"},
        {"| GPU | Shared memory (KiB/SM) |\n|---|---|\n| H100 | 192 |\n", "192", "228"},
        {"| GPU | L2 cache, KB |\n|---|---|\n| H100 | 40960 |\n", "40960", NULL},
        {"| Quantity | H100 (MB) |\n|---|---|\n| L2 cache | 40 |\n", "40", "50"},
        {"| Quantity | Unit | H100 |\n|---|---|---|\n| Shared memory per SM | KB | 192 "
         "|\n",
         "192", "228"},
        {"| GPU | Peak memory bandwidth in TB/s |\n|---|---|\n| H200 | 3.35 |\n", "3.35",
         "4.8"},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        expect_wrong(&table[i]);
    }
}

Test(hardware_facts, places_count_from_the_line_given_and_the_source_is_named) {
    static const char text[] =
        "First line.\n\nThe H100 has 192 KB of shared memory per SM.\n";
    autojson *findings = json_array();
    hardware_facts_check("references/gpu.md", text, strlen(text), 10, findings);
    const json_t *finding = json_array_get(findings, 0);
    cr_assert(finding != NULL);
    cr_expect(eq(int, (int)json_get_integer(finding, "line", 0), 12));
    cr_expect(eq(int, (int)json_get_integer(finding, "column", 0), 14));
    cr_expect(eq(int, (int)json_get_integer(finding, "end_column", 0), 20));
    cr_expect(eq(str, (char *)json_get_string(finding, "file", ""), "references/gpu.md"));
    cr_expect(strstr(json_get_string(finding, "message", ""), "Programming Guide") !=
              NULL);
}

Test(hardware_facts, hostile_text_takes_bounded_time) {
    size_t len = 4u << 20;
    autofree char *text = xmalloc(len + 1);
    static const char part[] = "H100 1 KB shared memory per SM|SMs:";
    for (size_t i = 0; i < len; i++) {
        text[i] = part[i % (sizeof part - 1)];
    }
    text[len] = '\0';
    autojson *findings = json_array();
    hardware_facts_check("x.md", text, len, 1, findings);
    for (size_t i = 200; i < len; i += 200) {
        text[i] = '\n';
    }
    hardware_facts_check("x.md", text, len, 1, findings);
    cr_expect(json_array_size(findings) <= 200);
}
