# Copy this file into your project.
#
#   include(spvlink.cmake)
#   spvlink_pipeline(water STAGES water.vert water.frag [OPTIONS --exact ...] [DESTINATION dir])
#
# The target `water` compiles the stages of one pipeline with glslangValidator and links them with
# spvlink; the modules are dir/water.vert.spv and dir/water.frag.spv (dir: the build folder's
# linked/). A changed shader, or a file that it includes, is compiled and its pipeline linked again.

find_program(GLSLANG_VALIDATOR glslangValidator REQUIRED)
find_program(SPVLINK spvlink REQUIRED)

function(spvlink_pipeline name)
  cmake_parse_arguments(arg "" "DESTINATION" "STAGES;OPTIONS" ${ARGN})
  if(NOT arg_STAGES)
    message(FATAL_ERROR "spvlink_pipeline(${name}): no STAGES")
  endif()
  if(NOT arg_DESTINATION)
    set(arg_DESTINATION "${CMAKE_CURRENT_BINARY_DIR}/linked")
  endif()
  set(plain "${CMAKE_CURRENT_BINARY_DIR}/${name}.dir")
  file(MAKE_DIRECTORY "${plain}")
  foreach(source IN LISTS arg_STAGES)
    get_filename_component(file "${source}" NAME)
    set(module "${plain}/${file}.spv")
    add_custom_command(
      OUTPUT "${module}"
      COMMAND "${GLSLANG_VALIDATOR}" -V --quiet --target-env vulkan1.1
              --depfile "${module}.d" -o "${module}" "${CMAKE_CURRENT_SOURCE_DIR}/${source}"
      DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${source}"
      DEPFILE "${module}.d"
      VERBATIM)
    list(APPEND modules "${module}")
    list(APPEND linked "${arg_DESTINATION}/${file}.spv")
  endforeach()
  # spvlink does not touch a file whose bytes stay the same, so a stamp says when it ran.
  set(stamp "${plain}/linked.stamp")
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS ${linked}
    COMMAND "${SPVLINK}" link ${modules} -o "${arg_DESTINATION}" ${arg_OPTIONS}
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS ${modules}
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS "${stamp}")
endfunction()
