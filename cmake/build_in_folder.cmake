# Builds SOURCE in FOLDER with copies of COPIES, and copies OUTPUTS to DESTINATION: run by cached_build(), one at a time for each folder.
file(LOCK ${FOLDER} DIRECTORY GUARD PROCESS)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "building in ${FOLDER} failed")
  endif()
endfunction()

foreach(copy IN LISTS COPIES)
  string(REGEX MATCH "^([^=]+)=(.*)$" _ ${copy})
  set(to ${FOLDER}/${CMAKE_MATCH_1})
  set(from ${CMAKE_MATCH_2})
  file(GLOB_RECURSE files RELATIVE ${from} ${from}/*)
  list(FILTER files EXCLUDE REGEX "\\.pyc?$")
  foreach(file IN LISTS files)
    configure_file(${from}/${file} ${to}/${file} COPYONLY)  # which leaves files that are the same as they are
  endforeach()
endforeach()

# Ninja knows which objects an interrupted build has finished. Make takes half of one for the whole.
set(unfinished ${FOLDER}/unfinished)
if(EXISTS ${unfinished} AND NOT GENERATOR MATCHES "Ninja")
  set(clean --clean-first)
endif()
file(WRITE ${unfinished} "")
run(${CMAKE_COMMAND} -G ${GENERATOR} -DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM} -C ${SETTINGS} -S ${SOURCE} -B ${FOLDER})
run(${CMAKE_COMMAND} --build ${FOLDER} ${clean})
file(REMOVE ${unfinished})

if(DESTINATION)
  file(COPY ${OUTPUTS} DESTINATION ${DESTINATION})
endif()
