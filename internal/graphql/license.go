package graphql

import (
	"context"
	"strings"

	"arbor/internal/graphql/exec"
	"arbor/internal/license"
	"arbor/internal/web"
)

// newLicense returns the license of a key, or nil. One that the catalog does not have is "other".
func newLicense(ctx context.Context, k *string) any {
	s := license.NewSimple(k, web.From(ctx))
	if s == nil {
		return nil
	}
	return &object{kind: "License", name: s.Key, whole: true, value: licenseOf{s, license.ByKey(s.Key)}}
}

// licenseOf is a license with what the catalog says; nil: it does not have it.
type licenseOf struct {
	*license.Simple
	in *license.License
}

// licenseByKey is Query.license.
func licenseByKey(ctx context.Context, f *exec.Field) (any, error) {
	k := f.Args["key"].(string)
	if license.ByKey(k) == nil {
		return nil, nil
	}
	return newLicense(ctx, &k), nil
}

// licenses is Query.licenses: those that are used most.
func licenses(ctx context.Context, _ *exec.Field) (any, error) {
	var all []any
	for _, l := range license.Featured() {
		all = append(all, newLicense(ctx, new(l.Key())))
	}
	return all, nil
}

// nicknames are short names of licenses in common use, by key.
var nicknames = map[string]string{"agpl-3.0": "GNU AGPLv3", "gpl-2.0": "GNU GPLv2", "gpl-3.0": "GNU GPLv3",
	"lgpl-2.1": "GNU LGPLv2.1", "lgpl-3.0": "GNU LGPLv3"}

func licenseFields() map[string]exec.Resolver {
	of := func(otherwise any, part func(l *license.License) any) exec.Resolver {
		return pick(func(l licenseOf) any {
			if l.in == nil {
				return otherwise
			}
			return part(l.in)
		})
	}
	rules := func(part func(l *license.License) []string) exec.Resolver {
		return of([]any{}, func(l *license.License) any {
			all := []any{}
			for _, word := range part(l) {
				all = append(all, bare{"LicenseRule", map[string]any{"key": word, "description": labelOf(word),
					"label": labelOf(word)}})
			}
			return all
		})
	}
	return map[string]exec.Resolver{
		"id":             pick(func(l licenseOf) any { return l.NodeID }),
		"key":            pick(func(l licenseOf) any { return l.Key }),
		"name":           pick(func(l licenseOf) any { return l.Name }),
		"spdxId":         pick(func(l licenseOf) any { return l.SPDX }),
		"body":           of("", func(l *license.License) any { return l.Text() }),
		"description":    of(nil, func(l *license.License) any { return l.Description }),
		"implementation": of(nil, func(*license.License) any { return license.Implementation }),
		"featured":       of(false, func(l *license.License) any { return l.Featured }),
		"hidden":         of(true, func(l *license.License) any { return !l.Featured }),
		"nickname":       pick(func(l licenseOf) any { return orNil(nicknames[l.Key]) }),
		"pseudoLicense":  pick(func(l licenseOf) any { return l.in == nil }),
		"url":            of(nil, func(l *license.License) any { return l.Page() }),
		"permissions":    rules(func(l *license.License) []string { return l.Permissions }),
		"conditions":     rules(func(l *license.License) []string { return l.Conditions }),
		"limitations":    rules(func(l *license.License) []string { return l.Limitations }),
	}
}

// labelOf returns a word of GitHub's API as a phrase: "commercial-use" is "Commercial use".
func labelOf(word string) string {
	text := strings.ReplaceAll(strings.ReplaceAll(word, "--", " "), "-", " ")
	return strings.ToUpper(text[:1]) + text[1:]
}
