#include "gtest/gtest.h"
#include <nccl.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <boost/algorithm/string.hpp>

extern "C" __global__ void fill(int *p, int v) { p[threadIdx.x] = v; }

class FillTest : public ::testing::TestWithParam<int> {
  protected:
    void SetUp() override { v.resize(32); }
    thrust::device_vector<int> v;
};

TEST_P(FillTest, Fills) {
    fill<<<1, 32>>>(thrust::raw_pointer_cast(v.data()), GetParam());
    EXPECT_EQ(v[0], GetParam());
}

INSTANTIATE_TEST_SUITE_P(Values, FillTest, ::testing::Values(1, 2));

static ncclComm_t g_comm;
thrust::host_vector<float> g_host(3);
