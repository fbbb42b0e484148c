package scim

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// patchBody is the body of a PATCH.
type patchBody struct {
	Operations operations `json:"Operations"`
}

// operations are those of a PATCH. What is too much is not read.
type operations []operation

// UnmarshalJSON implements json.Unmarshaler.
func (o *operations) UnmarshalJSON(text []byte) error {
	*o = nil
	return eachOf(text, maxOperations, "a request has at most %d operations", func(one operation) { *o = append(*o, one) })
}

type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
}

// Kinds of operations.
const (
	add     = "add"
	replace = "replace"
	remove  = "remove"
)

// apply calls fn for each operation and path, in their order. An operation without a path has an object, whose keys
// are paths. Errors: 400, 413.
func (b *patchBody) apply(fn func(op string, at path, value json.RawMessage) error) error {
	if len(b.Operations) == 0 {
		return wrong(badSyntax, "Operations is missing")
	}
	for _, o := range b.Operations {
		op := strings.ToLower(o.Op)
		switch {
		case op != add && op != replace && op != remove:
			return wrong(badSyntax, "op must be add, replace or remove")
		case o.Path != "":
			at, err := parsePath(o.Path)
			if err != nil {
				return err
			}
			if err := fn(op, at, o.Value); err != nil {
				return err
			}
			continue
		case op == remove:
			return wrong(noTarget, "remove needs a path")
		}
		var values map[string]json.RawMessage
		if err := decode(o.Value, &values); err != nil || values == nil {
			return bad("value must be an object where there is no path")
		}
		for _, key := range slices.Sorted(maps.Keys(values)) { // so that a request has one effect
			at, err := parsePath(key)
			if err != nil {
				return err
			}
			if err := fn(op, at, values[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

// patch applies an operation to a user. Errors: 400.
func (u *user) patch(op string, at path, value json.RawMessage) (err error) {
	if op == remove && at.attribute != "emails" && at.attribute != "roles" {
		value = nil // decodes to an empty value
	}
	text := func(to *string) error {
		if at.sub != "" || at.filter != nil {
			return wrong(badPath, "%s has no parts", at.attribute)
		}
		*to, err = readText(at.attribute, value)
		return err
	}
	switch at.attribute {
	case "username":
		return text(&u.name)
	case "externalid":
		return text(&u.external)
	case "displayname":
		return text(&u.Display)
	case "active":
		var active flag
		if op == remove || isNull(value) {
			return wrong("mutability", "active is true or false")
		}
		if err := decode(value, &active); err != nil {
			return err
		}
		u.active = bool(active)
	case "name":
		return u.patchName(at, value)
	case "emails":
		return u.Emails.patch(op, at, value)
	case "roles":
		return u.Roles.patch(op, at, value)
	}
	return nil // an attribute that users do not have here
}

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(bytes.TrimSpace(raw)) == "null"
}

// patchName changes the name or a part of it.
func (u *user) patchName(at path, value json.RawMessage) (err error) {
	if at.filter != nil {
		return wrong(badPath, "name has one value")
	}
	parts := map[string]*string{"formatted": &u.Name.Formatted, "familyname": &u.Name.Family, "givenname": &u.Name.Given,
		"middlename": &u.Name.Middle}
	switch part, known := parts[at.sub]; {
	case known:
		*part, err = readText("name."+at.sub, value)
		return err
	case at.sub != "":
		return nil // such as honorificPrefix
	case isNull(value):
		u.Name = name{}
		return nil
	}
	return decode(value, &u.Name) // parts that are not sent stay
}

// patch applies an operation to the values of an attribute.
func (e *entries) patch(op string, at path, value json.RawMessage) error {
	if at.filter == nil && (at.sub == "" || at.sub == "value") {
		return e.patchAll(op, value)
	}
	if at.filter == nil {
		return wrong(badPath, "the path needs a filter: which value?")
	}
	found := false
	for n := len(*e) - 1; n >= 0; n-- {
		one := &(*e)[n]
		if !one.matches(at.filter) {
			continue
		}
		found = true
		switch {
		case op == remove && at.sub == "":
			*e = slices.Delete(*e, n, n+1)
			continue
		case op == remove:
			value = nil
			if at.sub == "value" { // a value without it is none
				*e = slices.Delete(*e, n, n+1)
				continue
			}
			fallthrough
		case at.sub != "":
			if err := one.set(at.sub, value); err != nil {
				return err
			}
		default:
			if err := decode(value, one); err != nil {
				return err
			}
		}
		e.alone(n)
	}
	switch {
	case found || op == remove:
		return nil
	case op == replace:
		return wrong(noTarget, "no value matches the path")
	}
	return e.addMatching(at, value)
}

// patchAll adds, replaces or removes values.
func (e *entries) patchAll(op string, value json.RawMessage) error {
	var list entries
	if !isNull(value) {
		if err := decode(value, &list); err != nil {
			return err
		}
	}
	switch {
	case op == replace:
		*e = list
	case op == remove && len(list) == 0:
		*e = nil
	case op == remove:
		*e = slices.DeleteFunc(*e, func(one entry) bool {
			return slices.ContainsFunc(list, func(o entry) bool { return o.Value == one.Value })
		})
	default:
		for _, one := range list {
			n := slices.IndexFunc(*e, func(o entry) bool { return o.Value == one.Value && o.Type == one.Type })
			if n < 0 {
				if len(*e) == maxValues {
					return bad("an attribute has at most %d values", maxValues)
				}
				*e, n = append(*e, one), len(*e)
			} else {
				(*e)[n] = one
			}
			e.alone(n)
		}
	}
	return nil
}

// addMatching adds a value that matches the path's filter: `emails[type eq "work"].value`.
func (e *entries) addMatching(at path, value json.RawMessage) error {
	var one entry
	for _, t := range at.filter {
		raw, err := json.Marshal(t.value)
		if err == nil {
			err = one.set(t.attribute, raw)
		}
		if err != nil {
			return err
		}
	}
	if at.sub == "" {
		if err := decode(value, &one); err != nil {
			return err
		}
	} else if err := one.set(at.sub, value); err != nil {
		return err
	}
	if len(*e) == maxValues {
		return bad("an attribute has at most %d values", maxValues)
	}
	*e = append(*e, one)
	e.alone(len(*e) - 1)
	return nil
}
