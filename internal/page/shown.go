package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// Shown names what a form with many fields shows, for its hidden field "shown" (part "shown"): of each field of body,
// which is what the form would send to the API unchanged, a hash. So [Form.Changed] finds what a person changed, and what
// somebody else changes meanwhile in other fields stays.
func Shown(body any) string {
	fields := fieldsOf(body)
	list := make([]string, 0, len(fields))
	for name, value := range fields {
		list = append(list, name+"="+hashOf(value))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// Changed gives the fields of body that differ from what the form showed; all of them, where it does not tell.
func (f Form) Changed(body any) map[string]json.RawMessage {
	fields := fieldsOf(body)
	for one := range strings.SplitSeq(f.Get("shown"), " ") {
		name, hash, _ := strings.Cut(one, "=")
		if value, ok := fields[name]; ok && hashOf(value) == hash {
			delete(fields, name)
		}
	}
	return fields
}

// fieldsOf gives the fields of a value as JSON. Every body that pages send is an object.
func fieldsOf(body any) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	if data, err := json.Marshal(body); err == nil {
		_ = json.Unmarshal(data, &fields)
	}
	return fields
}

// hashOf names a field's value. Browsers change the ends of lines, and forms are read without space around.
func hashOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil && !bytes.Equal(value, []byte("null")) {
		value = []byte("text " + strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))
	}
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:9])
}
