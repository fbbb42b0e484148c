package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/errs"
)

// Shown returns the value of the hidden field "shown" (part "shown") of a form with many fields: a hash of
// each field of body, which is what the unchanged form would send to the API. With it [Form.Changed] finds
// the fields that the user changed, so that concurrent changes of other fields are kept.
func Shown(body any) string {
	fields := fieldsOf(body)
	list := make([]string, 0, len(fields))
	for name, value := range fields {
		list = append(list, name+"="+hashOf(value))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// Changed returns the fields of body that differ from what the form showed, or all fields if that is
// unknown.
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

// Edit is [Form.Changed] for a form that several users may have open. now is what the form would show now.
// Error: 422 if another user has changed one of the changed fields. It has both values, and sets the form's
// field "shown" to the new value, so that sending the form again overwrites it. It does not detect a change
// between reading now and the update.
func (f Form) Edit(sent, now any) (map[string]json.RawMessage, error) {
	fields, theirs := f.Changed(sent), fieldsOf(now)
	shown := strings.Split(f.Get("shown"), " ")
	var clashes []errs.Field
	for n, one := range shown {
		name, hash, _ := strings.Cut(one, "=")
		mine, changed := fields[name]
		if is := hashOf(theirs[name]); changed && is != hash && is != hashOf(mine) {
			shown[n] = name + "=" + is
			clashes = append(clashes, errs.Field{Field: name, Code: errs.Custom,
				Message: strings.ReplaceAll(name, "_", " ") +
					": it is " + inWords(theirs[name]) + " now, and you chose " + inWords(mine) + "."})
		}
	}
	if len(clashes) == 0 {
		return fields, nil
	}
	f.Set("shown", strings.Join(shown, " "))
	return nil, &errs.Error{Kind: errs.Invalid, Fields: clashes,
		Message: "Somebody else changed this since you opened it. " +
			"Nothing was saved yet: save again to put your choice in its place."}
}

// inWords is a field's value for people.
func inWords(value json.RawMessage) string {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return "nothing"
	}
	text := string(value)
	switch v := v.(type) {
	case nil:
		return "nothing"
	case bool:
		return map[bool]string{true: "on", false: "off"}[v]
	case string:
		text = v
	case []any:
		list := make([]string, len(v))
		for n, one := range v {
			list[n] = fmt.Sprint(one)
		}
		text = strings.Join(list, ", ")
	}
	if text = strings.TrimSpace(text); text == "" {
		return "empty"
	}
	return "“" + strings.ToValidUTF8(errs.Clip(text), "") + "”"
}

// fieldsOf returns the fields of a value as JSON. Every body that pages send is an object.
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
