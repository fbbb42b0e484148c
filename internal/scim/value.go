package scim

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/errs"
)

// flag is a boolean, which some providers send as a string.
type flag bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *flag) UnmarshalJSON(text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	value, known := readFlag(v)
	if !known {
		return bad("a boolean is true or false")
	}
	*f = flag(value)
	return nil
}

// readFlag reads true, false, or these as strings.
func readFlag(v any) (value, known bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case string:
		return strings.EqualFold(v, "true"), strings.EqualFold(v, "true") || strings.EqualFold(v, "false")
	}
	return false, false
}

// entry is a value of an attribute that has several.
type entry struct {
	Value   string `json:"value"`
	Display string `json:"display,omitempty"`
	Type    string `json:"type,omitempty"`
	Primary flag   `json:"primary,omitempty"`
}

// entries are the values of such an attribute. Some providers send one of them alone, or as a string.
type entries []entry

// UnmarshalJSON implements json.Unmarshaler.
func (e *entries) UnmarshalJSON(text []byte) error {
	if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '[' {
		text = append(append([]byte{'['}, text...), ']')
	}
	var items []json.RawMessage
	if err := json.Unmarshal(text, &items); err != nil {
		return err
	}
	list := make(entries, 0, min(len(items), maxValues))
	for _, item := range items {
		var one entry
		var err error
		switch item = bytes.TrimSpace(item); item[0] {
		case '"':
			err = json.Unmarshal(item, &one.Value)
		case 'n': // null
			continue
		default:
			err = json.Unmarshal(item, &one)
		}
		if err != nil {
			return err
		}
		if len(list) == maxValues {
			return bad("an attribute has at most %d values", maxValues)
		}
		list = append(list, one)
	}
	*e = list
	return nil
}

// matches reports whether all terms of a filter hold for a value.
func (e *entry) matches(filter []term) bool {
	for _, t := range filter {
		switch want := t.value.(type) {
		case string:
			is := map[string]string{"value": e.Value, "display": e.Display, "type": e.Type}
			have, known := is[t.attribute]
			primary, isFlag := readFlag(want)
			if t.attribute == "primary" && isFlag {
				if bool(e.Primary) != primary {
					return false
				}
			} else if !known || !strings.EqualFold(have, want) {
				return false
			}
		case bool:
			if t.attribute != "primary" || bool(e.Primary) != want {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// set sets one member of a value. Error: 400.
func (e *entry) set(sub string, raw json.RawMessage) error {
	switch sub {
	case "value", "display", "type":
		text, err := readText(sub, raw)
		if err != nil {
			return err
		}
		switch sub {
		case "value":
			e.Value = text
		case "display":
			e.Display = text
		default:
			e.Type = text
		}
	case "primary":
		return decode(raw, &e.Primary)
	}
	return nil
}

// decode reads a value of JSON. Error: 400.
func decode(raw json.RawMessage, to any) error {
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	err := json.Unmarshal(raw, to)
	if err == nil {
		return nil
	}
	if known, is := errors.AsType[*errs.Error](err); is {
		return known
	}
	return bad("a value has the wrong type")
}

// eachOf reads the elements of an array one by one, up to a bound. Error: 413 beyond, in these words.
func eachOf[T any](text []byte, most int, words string, fn func(T)) error {
	if isNull(text) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return bad("a list is an array")
	}
	for n := 0; d.More(); n++ {
		if n == most {
			return errs.Newf(errs.TooLarge, words, most)
		}
		var one T
		if err := d.Decode(&one); err != nil {
			return err
		}
		fn(one)
	}
	return nil
}

// readText reads a string; null is an empty one. Error: 400.
func readText(name string, raw json.RawMessage) (text string, err error) {
	if err := decode(raw, &text); err != nil {
		return "", bad("%s must be a string", name)
	}
	return text, checkText(name, text)
}

// checkText returns a 400 for what is not a short line.
func checkText(name, text string) error {
	if !utf8.ValidString(text) || account.CheckLine(name, text) != nil {
		return bad("%s must be one line of at most %d characters", name, account.MaxLine)
	}
	return nil
}

// check returns a 400 for values that are not short lines, and for more than one that is primary.
func (e entries) check(name string) error {
	primary := 0
	if len(e) > maxValues {
		return bad("%s has more than %d values", name, maxValues)
	}
	for _, one := range e {
		for _, text := range [...]string{one.Value, one.Display, one.Type} {
			if err := checkText(name, text); err != nil {
				return err
			}
		}
		if one.Primary {
			primary++
		}
	}
	if primary > 1 {
		return bad("%s has more than one primary value", name)
	}
	return nil
}

// alone makes the value at n the only one that is primary, if it is.
func (e entries) alone(n int) {
	if !e[n].Primary {
		return
	}
	for i := range e {
		e[i].Primary = i == n
	}
}
