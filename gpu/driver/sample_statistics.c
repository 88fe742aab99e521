#include "gpu/driver/sample_statistics.h"

#include <math.h>

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double q) {
    double at = count ? q * (double)(count - 1) : 0;
    size_t low = (size_t)at, high = low + 1 < count ? low + 1 : low;
    return count ? sorted[low] + (sorted[high] - sorted[low]) * (at - (double)low) : 0;
}

static double deviation(const double *list, size_t count) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += list[i];
    }
    for (size_t i = 0; i < count; i++) {
        double off = list[i] - sum / (double)count;
        squares += off * off;
    }
    return count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

double sample_median(double *list, size_t count) {
    qsort(list, count, sizeof *list, by_value);
    return quantile(list, count, 0.5);
}

json_t *sample_statistics(double *us, size_t count) {
    double median = sample_median(us, count), least = quantile(us, count, 0);
    double p90 = quantile(us, count, 0.9), std = deviation(us, count);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "summary",
                     json_sprintf("median %.4g us, p90 %.4g, least %.4g, deviation %.3g",
                                  median, p90, least, std),
                     "median_us", json_double(median), "min_us", json_double(least),
                     "p90_us", json_double(p90), "std_us", json_double(std), "samples",
                     (json_int_t)count);
}
