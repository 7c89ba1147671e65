// Compiles GLSL for tests, job by job in one process. glslangValidator builds its tables of built-in
// functions at each start, which takes 20 times as long as a small shader.
//
// Reads jobs from stdin: a line "ENVIRONMENT DEBUG COUNT" (vulkan1.3; "-", "-g" or "-gVS"), and for
// each source a line "NAME SIZE" and its text; the name's suffix is the stage. Answers with a line
// "ok COUNT" and for each module a line with its size in bytes and its words, or with "no SIZE" and
// the compiler's words. The modules are those of glslangValidator -V (test_glslang.py).
#include <SPIRV/GlslangToSpv.h>
#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>

#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Target {
    glslang::EShTargetClientVersion client;
    glslang::EShTargetLanguageVersion language;
};
const std::map<std::string, Target> targets = {
    {"vulkan1.0", {glslang::EShTargetVulkan_1_0, glslang::EShTargetSpv_1_0}},
    {"vulkan1.1", {glslang::EShTargetVulkan_1_1, glslang::EShTargetSpv_1_3}},
    {"vulkan1.2", {glslang::EShTargetVulkan_1_2, glslang::EShTargetSpv_1_5}},
    {"vulkan1.3", {glslang::EShTargetVulkan_1_3, glslang::EShTargetSpv_1_6}},
};
const std::map<std::string, EShLanguage> languages = {
    {"vert", EShLangVertex},   {"tesc", EShLangTessControl}, {"tese", EShLangTessEvaluation},
    {"geom", EShLangGeometry}, {"frag", EShLangFragment},    {"task", EShLangTask},
    {"mesh", EShLangMesh},     {"comp", EShLangCompute},
};

struct Source {
    std::string name, text;
    EShLanguage stage() const { return languages.at(name.substr(name.rfind('.') + 1)); }
};
using Module = std::vector<unsigned>;

// The modules of one program, or none and the compiler's words.
std::vector<Module> compile(const Target& target, const std::string& debug,
                            const std::vector<Source>& sources, std::string& words) {
    auto messages = EShMessages(EShMsgSpvRules | EShMsgVulkanRules);
    if (debug != "-") messages = EShMessages(messages | EShMsgDebugInfo);
    std::vector<std::unique_ptr<glslang::TShader>> shaders;
    glslang::TProgram program;
    for (const Source& source : sources) {
        shaders.push_back(std::make_unique<glslang::TShader>(source.stage()));
        glslang::TShader& shader = *shaders.back();
        const char* text = source.text.c_str();
        const char* name = source.name.c_str();
        shader.setStringsWithLengthsAndNames(&text, nullptr, &name, 1);
        shader.setEnvInput(glslang::EShSourceGlsl, source.stage(), glslang::EShClientVulkan, 100);
        shader.setEnvClient(glslang::EShClientVulkan, target.client);
        shader.setEnvTarget(glslang::EShTargetSpv, target.language);
        shader.setDebugInfo(debug == "-gVS");
        if (!shader.parse(GetDefaultResources(), 100, false, messages)) {
            words = shader.getInfoLog();
            return {};
        }
        program.addShader(&shader);
    }
    if (!program.link(messages) || !program.mapIO()) {
        words = program.getInfoLog();
        return {};
    }
    glslang::SpvOptions options;
    options.generateDebugInfo = debug != "-";
    options.emitNonSemanticShaderDebugInfo = debug == "-gVS";
    options.emitNonSemanticShaderDebugSource = debug == "-gVS";
    options.disableOptimizer = false;
    std::vector<Module> modules;
    for (const Source& source : sources) {
        spv::SpvBuildLogger logger;
        modules.emplace_back();
        glslang::GlslangToSpv(*program.getIntermediate(source.stage()), modules.back(), &logger,
                              &options);
    }
    return modules;
}

}  // namespace

int main() {
    std::ios::sync_with_stdio(false);
    glslang::InitializeProcess();
    std::string environment, debug;
    for (size_t count; std::cin >> environment >> debug >> count;) {
        std::vector<Source> sources(count);
        for (Source& source : sources) {
            size_t size;
            std::cin >> source.name >> size;
            std::cin.get();
            source.text.resize(size);
            std::cin.read(source.text.data(), std::streamsize(size));
        }
        std::string words;
        const auto modules = compile(targets.at(environment), debug, sources, words);
        if (modules.empty()) {
            std::cout << "no " << words.size() << '\n' << words;
        } else {
            std::cout << "ok " << modules.size() << '\n';
            for (const Module& module : modules) {
                const size_t size = module.size() * sizeof(unsigned);
                std::cout << size << '\n';
                std::cout.write(reinterpret_cast<const char*>(module.data()), std::streamsize(size));
            }
        }
        std::cout.flush();
    }
}
