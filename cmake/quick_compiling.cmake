# The same code in less time.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Collect the compiler's garbage from 512 MB on, not from 128: a sixteenth of the time.
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()
