// What fossilize-opt does, with threads, for scripts/race-batch: the passes of `spirv-opt -O` over
// each module of a Fossilize archive, which the optimizer validates first, and an archive with what
// comes out. Every other entry stays; modules keep their keys.
//
// usage: archive-optimizer IN.foz OUT.foz THREADS
#include <spirv-tools/optimizer.hpp>
#include <zlib.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

// Sizes in bytes. An archive is 16 bytes, then entries: 24 hex digits of tag, 16 of key, four words.
constexpr size_t kStart = 16, kHead = 56, kTagAndKey = 40;
constexpr uint32_t kRaw = 1, kDeflate = 2;
constexpr int kModule = 4;

struct Figures {
  uint32_t stored, format, crc, size;
};

struct Entry {
  size_t at;        // of the head in the archive
  Figures figures;  // of what is there
  std::string made;  // head and payload of an optimized module
};

static std::string payload_of(const std::string& archive, const Entry& entry) {
  const char* stored = archive.data() + entry.at + kHead;
  if (entry.figures.format == kRaw) return {stored, entry.figures.stored};
  std::string payload(entry.figures.size, '\0');
  uLongf size = payload.size();
  if (uncompress(reinterpret_cast<Bytef*>(payload.data()), &size,
                 reinterpret_cast<const Bytef*>(stored), entry.figures.stored) != Z_OK ||
      size != payload.size())
    return {};
  return payload;
}

// Seven bits a byte, lowest first.
static std::vector<uint32_t> decoded(const std::string& bytes, size_t begin) {
  std::vector<uint32_t> words;
  uint32_t word = 0;
  int shift = 0;
  for (size_t at = begin; at < bytes.size(); ++at) {
    word |= uint32_t(bytes[at] & 0x7f) << shift;
    shift += 7;
    if (bytes[at] & 0x80) continue;
    words.push_back(word);
    word = 0;
    shift = 0;
  }
  return words;
}

static std::string encoded(const std::vector<uint32_t>& words) {
  std::string bytes;
  for (uint32_t word : words) {
    for (; word > 0x7f; word >>= 7) bytes += char(word | 0x80);
    bytes += char(word);
  }
  return bytes;
}

static bool optimize(const std::string& archive, Entry& entry) {
  const std::string payload = payload_of(archive, entry);
  const size_t end = payload.find('\0');
  if (end == std::string::npos) return false;
  const std::vector<uint32_t> words = decoded(payload, end + 1);
  std::vector<uint32_t> out;
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_3);
  optimizer.RegisterPerformancePasses();
  if (!optimizer.Run(words.data(), words.size(), &out)) return false;
  const std::string key = archive.substr(entry.at + 24, 16), code = encoded(out);
  std::string made = R"({"version":6,"shaderModules":{")" + key + R"(":{"varintOffset":0,"varintSize":)" +
                     std::to_string(code.size()) + R"(,"codeSize":)" + std::to_string(4 * out.size()) +
                     R"(,"flags":0}}})";
  made += '\0';
  made += code;
  uLongf size = compressBound(made.size());
  std::string stored(size, '\0');
  auto* bytes = reinterpret_cast<Bytef*>(stored.data());
  if (compress(bytes, &size, reinterpret_cast<const Bytef*>(made.data()), made.size()) != Z_OK)
    return false;
  const Figures figures{uint32_t(size), kDeflate, uint32_t(crc32(0, bytes, size)), uint32_t(made.size())};
  entry.made = archive.substr(entry.at, kTagAndKey);
  entry.made.append(reinterpret_cast<const char*>(&figures), sizeof figures);
  entry.made.append(stored, 0, size);
  return true;
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  std::ifstream in(arguments[1], std::ios::binary);
  const std::string archive((std::istreambuf_iterator<char>(in)), {});
  std::vector<Entry> entries;
  std::vector<size_t> modules;
  for (size_t at = kStart; at + kHead <= archive.size();) {
    Entry entry{at, {}, {}};
    std::memcpy(&entry.figures, archive.data() + at + kTagAndKey, sizeof entry.figures);
    if (std::stoi(archive.substr(at, 24), nullptr, 16) == kModule) modules.push_back(entries.size());
    at += kHead + entry.figures.stored;
    entries.push_back(std::move(entry));
  }
  std::atomic<size_t> next{0}, failed{0};
  std::vector<std::thread> threads;
  for (int number = std::atoi(arguments[3]); number > 0; --number)
    threads.emplace_back([&] {
      for (size_t at; (at = next++) < modules.size();)
        if (!optimize(archive, entries[modules[at]])) ++failed;
    });
  for (auto& thread : threads) thread.join();
  std::ofstream out(arguments[2], std::ios::binary);
  out << archive.substr(0, kStart);
  for (const Entry& entry : entries) {
    if (entry.made.empty())
      out << archive.substr(entry.at, kHead + entry.figures.stored);
    else
      out << entry.made;
  }
  out.close();
  std::cout << modules.size() << " modules, " << failed << " failed" << std::endl;
  return out ? 0 : 1;
}
