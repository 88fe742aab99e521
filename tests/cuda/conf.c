#include "tests/cuda/conf.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct conf conf = {
    .devices = 1,
    .major = 9,
    .driver = 13000,
    .sms = 132,
    .ecc = 1,
    .cubin = CUDA_NO_BINARY_FOR_GPU,
    .name = "NVIDIA H100 80GB HBM3",
    .memory = UINT64_C(80) << 30,
    .room = UINT64_C(2) << 30,
    .l2 = UINT64_C(50) << 20,
    .launch_us = 10,
    .bytes_per_us = 2e6,
};

static const char *const function_names[] = {
#define CUDA_FUNCTION(member, symbol, needed, args) #symbol,
#include "gpu/driver/cuda_functions.def"
#undef CUDA_FUNCTION
};

static bool function_find(const char *name, enum standin_function *ret) {
    for (unsigned k = 0; k < STANDIN_FUNCTIONS; k++) {
        if (strcmp(name, function_names[k]) == 0) {
            *ret = (enum standin_function)k;
            return true;
        }
    }
    return false;
}

static bool number_read(const char *text, uint64_t *ret) {
    char *end;
    *ret = strtoull(text, &end, 0);
    return end != text && *end == 0;
}

static bool nth_read(const char *text, uint64_t *ret) {
    if (strcmp(text, "*") == 0) {
        *ret = 0;
        return true;
    }
    return number_read(text, ret) && *ret > 0;
}

static bool crash_read(const char *text, int *ret) {
    static const char *const names[] = {"segv", "abort", "exit", "kill"};
    for (int k = 0; k < 4; k++) {
        if (strcmp(text, names[k]) == 0) {
            *ret = k;
            return true;
        }
    }
    return false;
}

/* fail F N CODE, crash F N HOW, hang F N */
static bool rule_read(enum conf_action action, const char *rest) {
    char function[64], nth[24], value[24] = "";
    int got = sscanf(rest, "%63s %23s %23s", function, nth, value);
    struct conf_rule *r = &conf.rules[conf.rule_count];
    r->action = action;
    r->value = atoi(value);
    if (got < (action == ACTION_HANG ? 2 : 3) || conf.rule_count == CONF_MAX_RULES - 1 ||
        !function_find(function, &r->function) || !nth_read(nth, &r->nth) ||
        (action == ACTION_CRASH && !crash_read(value, &r->value))) {
        return false;
    }
    conf.rule_count++;
    return true;
}

static bool launch_rule_read(enum launch_action action, const char *rest) {
    char nth[24], value[24] = "0";
    int got = sscanf(rest, "%23s %23s", nth, value);
    struct launch_rule *r = &conf.launches[conf.launch_count];
    r->action = action;
    if (got < (action == LAUNCH_STUCK ? 1 : 2) ||
        conf.launch_count == CONF_MAX_RULES - 1 || !nth_read(nth, &r->nth) ||
        !number_read(value, &r->value)) {
        return false;
    }
    conf.launch_count++;
    return true;
}

static bool kernel_time_read(const char *rest) {
    struct kernel_time *t = &conf.times[conf.time_count];
    if (conf.time_count == CONF_MAX_RULES - 1 ||
        sscanf(rest, "%63s %lf", t->name, &t->us) != 2) {
        return false;
    }
    conf.time_count++;
    return true;
}

static bool value_read(const char *word, const char *rest) {
    static const struct {
        const char *word;
        int *number;
        uint64_t *bytes;
        double *real;
    } values[] = {
        {"devices", &conf.devices, NULL, NULL},
        {"driver", &conf.driver, NULL, NULL},
        {"sms", &conf.sms, NULL, NULL},
        {"compute_mode", &conf.compute_mode, NULL, NULL},
        {"ecc", &conf.ecc, NULL, NULL},
        {"cubin", &conf.cubin, NULL, NULL},
        {"memory", NULL, &conf.memory, NULL},
        {"room", NULL, &conf.room, NULL},
        {"l2", NULL, &conf.l2, NULL},
        {"launch_us", NULL, NULL, &conf.launch_us},
        {"cold_us", NULL, NULL, &conf.cold_us},
        {"gap_us", NULL, NULL, &conf.gap_us},
        {"jitter_us", NULL, NULL, &conf.jitter_us},
        {"bytes_per_us", NULL, NULL, &conf.bytes_per_us},
    };
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        if (strcmp(word, values[k].word) == 0) {
            return values[k].number  ? sscanf(rest, "%d", values[k].number) == 1
                   : values[k].bytes ? number_read(rest, values[k].bytes)
                                     : sscanf(rest, "%lf", values[k].real) == 1;
        }
    }
    return false;
}

static bool line_read(const char *word, const char *rest) {
    static const char *const rules[] = {"fail", "crash", "hang"};
    static const char *const launches[] = {"delay_ms", "fault", "stuck", "print"};
    for (unsigned k = 0; k < 3; k++) {
        if (strcmp(word, rules[k]) == 0) {
            return rule_read((enum conf_action)k, rest);
        }
    }
    for (unsigned k = 0; k < 4; k++) {
        if (strcmp(word, launches[k]) == 0) {
            return launch_rule_read((enum launch_action)k, rest);
        }
    }
    if (strcmp(word, "kernel_us") == 0) {
        return kernel_time_read(rest);
    }
    if (strcmp(word, "name") == 0) {
        snprintf(conf.name, sizeof conf.name, "%s", rest);
        return true;
    }
    if (strcmp(word, "capability") == 0) {
        return sscanf(rest, "%d.%d", &conf.major, &conf.minor) == 2;
    }
    if (strcmp(word, "exit_hangs") == 0) {
        conf.exit_hangs = true;
        return true;
    }
    if (strcmp(word, "wants_socket") == 0) {
        conf.wants_socket = true;
        return true;
    }
    return value_read(word, rest);
}

void conf_read(void) {
    char path[4096], line[512];
    Dl_info info;
    if (!dladdr(&conf, &info) || !info.dli_fname) {
        return;
    }
    snprintf(path, sizeof path, "%s.conf", info.dli_fname);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "#\n")] = 0;
        char *word = line + strspn(line, " \t");
        char *rest = word + strcspn(word, " \t");
        if (*word == 0) {
            continue;
        }
        if (*rest) {
            *rest++ = 0;
            rest += strspn(rest, " \t");
        }
        if (!line_read(word, rest) && !conf.bad[0]) {
            snprintf(conf.bad, sizeof conf.bad, "%.40s %.100s", word, rest);
        }
    }
    if (f) {
        (void)fclose(f);
    }
}

const struct launch_rule *conf_launch(enum launch_action action, uint64_t number) {
    for (unsigned k = 0; k < conf.launch_count; k++) {
        const struct launch_rule *r = &conf.launches[k];
        if (r->action == action && (r->nth == 0 || r->nth == number)) {
            return r;
        }
    }
    return NULL;
}
