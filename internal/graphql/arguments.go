package graphql

import (
	"reflect"

	"arbor/internal/graphql/exec"
)

// isDefault reports whether a value is the default of an argument.
func isDefault(f *exec.Field, name string, value any) bool {
	d := f.Definition().Arguments.ForName(name)
	if d == nil || d.DefaultValue == nil {
		return value == false
	}
	if list, ok := value.([]any); ok && len(list) == 0 {
		return len(d.DefaultValue.Children) == 0
	}
	otherwise, err := d.DefaultValue.Value(nil)
	return err == nil && reflect.DeepEqual(otherwise, value)
}
