# A build for the sanitizers in JOUNCE_SANITIZE: for one instruction set, and with hardly any optimization.
add_compile_options(-fsanitize=${JOUNCE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1 -O1 -DJOUNCE_SANITIZE
  -march=native)  # the widest registers, where most lanes are padding
add_link_options(-fsanitize=${JOUNCE_SANITIZE})
