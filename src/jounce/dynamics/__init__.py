"""What is computed from a model beside the core: derivatives by the state, linearization, closed forms, statics."""
