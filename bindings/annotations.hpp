// Types that signatures have in common.
#pragma once

#define JOUNCE_AXES "typing.Literal['body', 'world', 'mixed']"
