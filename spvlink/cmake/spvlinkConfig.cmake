# The CMake package of spvlink.
#
#   find_package(spvlink REQUIRED)   # cmake -Dspvlink_DIR="$(spvlink cmake-dir)" ...
#   spvlink_pipeline(water STAGES water.vert water.frag)
#
# Who keeps tools in the source tree copies this one file and includes it.
#
# spvlink_pipeline(NAME
#   STAGES FILE...        the stages of one pipeline: GLSL, HLSL (water.frag.hlsl) or SPIR-V (.spv)
#   [DESTINATION DIR]     where the linked modules go (default: linked/NAME in the build folder)
#   [INCLUDES DIR...]     folders for #include
#   [DEFINES NAME[=V]...] macros
#   [TARGET_ENV ENV]      vulkan1.0 ... vulkan1.4 (default: vulkan1.1, with mesh shaders vulkan1.2)
#   [LAYOUT FILE]         the pipeline layout, for --layout
#   [STATE FILE]          the known state of the pipeline, for --state
#   [EMBED c|c-array]     write each module as C, too: DIR/water.vert.spv.h or .inc
#   [OPTIONS WORD...])    more options of `spvlink link`
#
# The target NAME compiles the stages with glslangValidator and links them. Its property
# SPVLINK_FILES lists what it writes. A stage that several pipelines share is written once for each:
# linked modules of different pipelines do not fit each other.
#
# spvlink_library()       the target spvlink::spvlink: libspvlink, static, for engines that link when
#                         they create a pipeline (spvlink.h). It is built when CMake is configured.

find_program(SPVLINK_GLSLANG_VALIDATOR glslangValidator REQUIRED)
find_program(SPVLINK_PROGRAM spvlink
             HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../../../bin" REQUIRED)
set(spvlink_FOUND TRUE)

function(spvlink_library)
  if(TARGET spvlink::spvlink)
    return()
  endif()
  set(folder "${CMAKE_BINARY_DIR}/libspvlink")
  execute_process(COMMAND "${SPVLINK_PROGRAM}" library "${folder}"
                  RESULT_VARIABLE status ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "spvlink_library(): ${said}")
  endif()
  find_package(Threads REQUIRED)
  add_library(spvlink::spvlink STATIC IMPORTED GLOBAL)
  set_target_properties(spvlink::spvlink PROPERTIES
    IMPORTED_LOCATION "${folder}/lib/libspvlink.a"
    INTERFACE_INCLUDE_DIRECTORIES "${folder}/include"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endfunction()

function(spvlink_pipeline name)
  cmake_parse_arguments(arg "" "DESTINATION;TARGET_ENV;LAYOUT;STATE;EMBED"
                        "STAGES;INCLUDES;DEFINES;OPTIONS" ${ARGN})
  set(here "spvlink_pipeline(${name})")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${here}: unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_STAGES)
    message(FATAL_ERROR "${here}: no STAGES")
  endif()
  if(NOT arg_DESTINATION)
    set(arg_DESTINATION "${CMAKE_CURRENT_BINARY_DIR}/linked/${name}")
  endif()
  get_filename_component(destination "${arg_DESTINATION}" ABSOLUTE
                         BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  if(NOT arg_TARGET_ENV)
    set(arg_TARGET_ENV vulkan1.1)
    if("${arg_STAGES}" MATCHES "\\.(mesh|task)(\\.hlsl|\\.glsl)?(;|$)")
      set(arg_TARGET_ENV vulkan1.2)
    endif()
  endif()

  set(flags --target-env ${arg_TARGET_ENV})
  foreach(folder IN LISTS arg_INCLUDES)
    get_filename_component(folder "${folder}" ABSOLUTE)
    list(APPEND flags "-I${folder}")
  endforeach()
  foreach(define IN LISTS arg_DEFINES)
    list(APPEND flags "-D${define}")
  endforeach()

  set(options ${arg_OPTIONS})
  set(inputs)
  foreach(fact LAYOUT STATE)
    if(arg_${fact})
      get_filename_component(file "${arg_${fact}}" ABSOLUTE)
      string(TOLOWER "--${fact}" option)
      list(APPEND options ${option} "${file}")
      list(APPEND inputs "${file}")
    endif()
  endforeach()
  set(embedded)
  if(arg_EMBED STREQUAL "c")
    set(embedded .h)
  elseif(arg_EMBED STREQUAL "c-array")
    set(embedded .inc)
  elseif(arg_EMBED)
    message(FATAL_ERROR "${here}: EMBED ${arg_EMBED}: there are c and c-array")
  endif()
  if(arg_EMBED)
    list(APPEND options --embed ${arg_EMBED})
  endif()

  set(plain "${CMAKE_CURRENT_BINARY_DIR}/${name}.dir")
  file(MAKE_DIRECTORY "${plain}")
  set(modules)
  set(linked)
  foreach(source IN LISTS arg_STAGES)
    get_filename_component(file "${source}" NAME)
    get_filename_component(source "${source}" ABSOLUTE)
    if(file MATCHES "\\.spv$")
      set(module "${source}")
    else()
      set(language)
      if(file MATCHES "\\.([a-z]+)\\.hlsl$")
        set(language -D -e main -S ${CMAKE_MATCH_1})
      endif()
      set(module "${plain}/${file}.spv")
      string(APPEND file .spv)
      if(NOT module IN_LIST modules)
        add_custom_command(
          OUTPUT "${module}"
          COMMAND "${SPVLINK_GLSLANG_VALIDATOR}" -V --quiet ${flags} ${language}
                  --depfile "${module}.d" -o "${module}" "${source}"
          DEPENDS "${source}"
          DEPFILE "${module}.d"
          VERBATIM)
      endif()
    endif()
    # Make would let the last pipeline win, and Ninja stop with a message about rules.
    set(output "${destination}/${file}")
    get_property(owner GLOBAL PROPERTY "SPVLINK_OWNER_${output}")
    if(owner STREQUAL name)
      message(FATAL_ERROR "${here}: two of STAGES would be written to ${output}")
    elseif(owner)
      message(FATAL_ERROR "${here}: spvlink_pipeline(${owner}) writes ${output}, too: "
                          "give each pipeline a DESTINATION of its own")
    endif()
    set_property(GLOBAL PROPERTY "SPVLINK_OWNER_${output}" "${name}")
    list(APPEND modules "${module}")
    list(APPEND linked "${output}")
    if(arg_EMBED)
      list(APPEND linked "${output}${embedded}")
    endif()
  endforeach()

  # spvlink does not touch a file whose bytes stay the same, so a stamp says when it ran.
  set(stamp "${plain}/linked.stamp")
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS ${linked}
    COMMAND "${SPVLINK_PROGRAM}" link ${modules} -o "${destination}" ${options}
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS ${modules} ${inputs}
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS "${stamp}")
  set_target_properties(${name} PROPERTIES SPVLINK_FILES "${linked}")
endfunction()
