# cached_build(NAME SOURCE folder SETTINGS VARIABLE=value... OUTPUTS file... FOLDER variable [COPIES name=folder...]
#              [DESTINATION folder] [AFTER target...])
#
# A target NAME that builds the CMake project in SOURCE in a folder below JOUNCE_CACHE that outlives this build, and copies its
# OUTPUTS to DESTINATION, if there is one. The folder, which FOLDER is set to, is named by everything that the objects depend on but
# for the sources: CMake, Ninja, compiler, flags, settings. So another compiler or another flag gets another folder; whether sources have
# changed is Ninja's business. Nothing in it may depend on the environment that installs, where pip puts CMake, Ninja, nanobind and NumPy
# under a new name each time: what is compiled with is copied there, by content. A list in a value is separated by |.
set(cached_build_script ${CMAKE_CURRENT_LIST_DIR}/build_in_folder.cmake)

function(cached_build name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;FOLDER;DESTINATION" "SETTINGS;COPIES;OUTPUTS;AFTER")
  get_filename_component(source ${arg_SOURCE} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  set(text)
  foreach(variable CMAKE_CXX_COMPILER CMAKE_CXX_FLAGS CMAKE_MODULE_LINKER_FLAGS CMAKE_BUILD_TYPE CMAKE_TOOLCHAIN_FILE CMAKE_SYSROOT
          CMAKE_OSX_ARCHITECTURES CMAKE_OSX_DEPLOYMENT_TARGET CMAKE_OSX_SYSROOT CMAKE_CXX_COMPILER_LAUNCHER)
    if(NOT "${${variable}}" STREQUAL "")
      string(APPEND text "set(${variable} [==[${${variable}}]==] CACHE STRING \"\" FORCE)\n")
    endif()
  endforeach()
  foreach(setting IN LISTS arg_SETTINGS)
    string(REGEX MATCH "^([^=]+)=(.*)$" _ "${setting}")
    string(REPLACE "|" ";" value "${CMAKE_MATCH_2}")
    string(APPEND text "set(${CMAKE_MATCH_1} [==[${value}]==] CACHE STRING \"\" FORCE)\n")
  endforeach()
  # Another CMake writes other commands, and another Ninja another log: a folder that two took turns in would be compiled again each time.
  execute_process(COMMAND ${CMAKE_MAKE_PROGRAM} --version OUTPUT_VARIABLE maker ERROR_QUIET)
  set(tools "${CMAKE_VERSION} ${CMAKE_GENERATOR} ${maker} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  string(SHA256 key "${source} ${tools} ${text}")
  string(SUBSTRING ${key} 0 10 key)
  set(folder ${JOUNCE_CACHE}/${name}-${key})
  set(settings ${CMAKE_CURRENT_BINARY_DIR}/${name}.cmake)
  file(WRITE ${settings} "${text}")
  list(TRANSFORM arg_OUTPUTS PREPEND ${folder}/ OUTPUT_VARIABLE outputs)
  add_custom_target(${name} ALL
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${source} -DFOLDER=${folder} -DSETTINGS=${settings} "-DCOPIES=${arg_COPIES}" "-DOUTPUTS=${outputs}"
      "-DDESTINATION=${arg_DESTINATION}" "-DGENERATOR=${CMAKE_GENERATOR}" -DMAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}
      -P ${cached_build_script}
    BYPRODUCTS ${outputs} COMMENT "Building ${name} in ${folder}" USES_TERMINAL VERBATIM)
  if(arg_AFTER)
    add_dependencies(${name} ${arg_AFTER})
  endif()
  set(${arg_FOLDER} ${folder} PARENT_SCOPE)
endfunction()
