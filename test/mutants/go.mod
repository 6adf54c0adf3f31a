module controller-manager/test/mutants

go 1.26.0
