// What `spirv-opt -O` does, inside one process, for scripts/race: reads lines of file names, gives
// the thread CPU time in nanoseconds that optimizing these modules once took (not validated), or -1.
#include <spirv-tools/optimizer.hpp>

#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

static int64_t now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

static std::vector<uint32_t> words_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<uint32_t> words(bytes.size() / 4);
  bytes.copy(reinterpret_cast<char*>(words.data()), 4 * words.size());
  return words;
}

int main() {
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream names(line);
    std::vector<std::vector<uint32_t>> modules;
    for (std::string name; std::getline(names, name, '\t');) modules.push_back(words_of(name));
    bool good = true;
    const int64_t start = now();
    for (const auto& words : modules) {
      std::vector<uint32_t> out;
      spvtools::Optimizer optimizer(SPV_ENV_UNIVERSAL_1_6);
      optimizer.RegisterPerformancePasses();
      good &= optimizer.Run(words.data(), words.size(), &out, options);
    }
    std::cout << (good ? now() - start : -1) << std::endl;
  }
}
