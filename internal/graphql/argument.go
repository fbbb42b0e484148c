package graphql

import (
	"cmp"
	"slices"

	"arbor/internal/graphql/exec"
)

// firstOf returns the first error.
func firstOf(list ...error) error { return cmp.Or(list...) }

// refuseGiven refuses arguments that Arbor cannot honour, if they are given.
func refuseGiven(f *exec.Field, names ...string) error {
	for _, name := range names {
		if f.Args[name] != nil {
			return refused("Arbor does not choose by " + name + " here.")
		}
	}
	return nil
}

// refuseAffiliations refuses ownerAffiliations other than the schema's default, where Arbor lists all.
func refuseAffiliations(f *exec.Field) error {
	given, ok := f.Args["ownerAffiliations"].([]any)
	if !ok || slices.Equal(given, []any{"OWNER", "COLLABORATOR"}) || len(given) == 3 {
		return nil
	}
	return refused("Arbor does not choose by ownerAffiliations here.")
}
