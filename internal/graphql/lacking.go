package graphql

import (
	"context"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"arbor/internal/graphql/exec"
)

// lacking returns the resolver for fields without one of their own. It takes the value from a bare object that has it.
// Other fields belong to features that Arbor lacks, and get what GitHub returns to users without any data: an empty
// list or connection, null, false, zero or "".
func lacking(s *ast.Schema, tables map[string]map[string]exec.Resolver) exec.Resolver {
	return func(_ context.Context, f *exec.Field, parents []exec.Object) []any {
		values := make([]any, len(parents))
		for n, p := range parents {
			if b, ok := p.(bare); ok {
				if v, there := b.fields[f.Name]; there {
					values[n] = leaf(v)
					continue
				}
			}
			values[n] = lacks(s, f, tables)
		}
		return values
	}
}

// lacks returns the value of a field of a feature that Arbor lacks.
func lacks(s *ast.Schema, f *exec.Field, tables map[string]map[string]exec.Resolver) any {
	t := f.Definition().Type
	switch d := s.Types[t.Name()]; {
	case t.Elem != nil && t.NonNull:
		return []any{}
	case strings.HasSuffix(d.Name, "Connection") && d.Kind == ast.Object:
		return orError(connectAll(f, d.Name, nil))
	case !t.NonNull || t.Elem != nil:
		return nil
	case d.Kind == ast.Object && tables[d.Name] == nil:
		return bare{kind: d.Name}
	case d.Kind == ast.Enum:
		return lackedWord(d)
	case d.Kind == ast.Scalar:
		return lackedScalar(d.Name)
	}
	return nil // exec reports the error
}

// lackedScalar returns the value of a scalar that is not null.
func lackedScalar(name string) any {
	switch name {
	case "Boolean":
		return false
	case "Int", "Float":
		return 0
	case "DateTime", "Date":
		return nil
	}
	return ""
}

// lackedWords are the values of non-null enums of features that Arbor lacks, unless it is the first value.
var lackedWords = map[string]string{
	"IpAllowListEnabledSettingValue":                 "DISABLED",
	"IpAllowListForInstalledAppsEnabledSettingValue": "DISABLED",
	"NotificationRestrictionSettingValue":            "DISABLED",
	"TeamNotificationSetting":                        "NOTIFICATIONS_ENABLED",
	"UserViewType":                                   "PUBLIC",
}

func lackedWord(d *ast.Definition) any {
	if word := lackedWords[d.Name]; word != "" {
		return word
	}
	return d.EnumValues[0].Name
}
