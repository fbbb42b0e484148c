package graphql

import (
	"context"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"arbor/internal/graphql/exec"
)

// lacking returns the resolver of fields without one of their own. A bare object has some of their values. The others
// are of what Arbor does not have, and are answered as GitHub answers for somebody who has none of it: empty lists
// and connections, null, false, zero, "".
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

// lacks returns the value of a field of what Arbor does not have.
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
	return nil // exec reports that it must not be null
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

// lackedWords are the values of enums for what Arbor does not have, where that is not the first of them.
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
