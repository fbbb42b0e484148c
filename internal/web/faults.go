package web

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"arbor/internal/errs"
)

// Faults collects the errors of a client's values by field. Operations use it to validate values from JSON
// or from a form. The zero value with a resource ("Issue") is ready to use. An operation whose values were read
// from a body goes on with the body's faults, so that one answer names them all. A text that could not be read
// is not checked again.
type Faults struct {
	Resource string
	wrong    []errs.Field
}

// Err returns the 422 for all that was found wrong, or nil.
func (o *Faults) Err() error {
	if len(o.wrong) == 0 {
		return nil
	}
	return errs.Validation(o.wrong...)
}

// Wrong notes a field that is not acceptable.
func (o *Faults) Wrong(field, code, message string) {
	o.wrong = append(o.wrong, errs.Field{Resource: o.Resource, Field: field, Code: code, Message: message})
}

// WrongValue notes a field whose value, of the right type, is invalid.
func (o *Faults) WrongValue(field string, value any) {
	o.wrong = append(o.wrong, errs.Field{Resource: o.Resource, Field: field, Code: errs.InvalidField,
		Value: value})
}

// invalid notes a field of the wrong type.
func (o *Faults) invalid(field, want string) {
	o.Wrong(field, errs.InvalidField, strconv.Quote(field)+" must be "+want)
}

// IsWrong reports whether something is wrong with a field.
func (o *Faults) IsWrong(field string) bool {
	return slices.ContainsFunc(o.wrong, func(f errs.Field) bool { return f.Field == field })
}

// CheckText notes a text with NUL and one of more than max code points (decision 19). max 0 means any length.
func (o *Faults) CheckText(field, value string, max int) {
	if o.IsWrong(field) {
		return
	}
	if strings.IndexByte(value, 0) >= 0 {
		o.Wrong(field, errs.InvalidField, field+" must not contain NUL")
	}
	if max > 0 && len(value) > max && utf8.RuneCountInString(value) > max {
		o.Wrong(field, errs.Custom, field+" is too long (maximum is "+strconv.Itoa(max)+" characters)")
	}
}

// CheckFilled reports a text that is empty or blank.
func (o *Faults) CheckFilled(field, value string) {
	switch {
	case o.IsWrong(field):
	case value == "":
		o.Wrong(field, errs.MissingField, "")
	case strings.TrimSpace(value) == "":
		o.Wrong(field, errs.MissingField, field+" can't be blank")
	}
}

// CheckEnum notes a value that is not one of the values.
func (o *Faults) CheckEnum(field, value string, values ...string) {
	if slices.Contains(values, value) || o.IsWrong(field) {
		return
	}
	o.wrong = append(o.wrong, errs.Field{Resource: o.Resource, Field: field, Code: errs.InvalidField,
		Value:   value,
		Message: strconv.Quote(field) + " must be one of " + strings.Join(values, ", ")})
}

// CheckStrings notes a list of more than maxItems texts, and one with a text of more than max code points or
// with NUL. max 0 means any length.
func (o *Faults) CheckStrings(field string, list []string, maxItems, max int) (ok bool) {
	if len(list) > maxItems {
		o.Wrong(field, errs.InvalidField, field+" has more than "+strconv.Itoa(maxItems)+" entries")
		return false
	}
	for _, item := range list {
		if strings.IndexByte(item, 0) >= 0 || max > 0 && utf8.RuneCountInString(item) > max {
			o.Wrong(field, errs.InvalidField, "each of "+field+" has at most "+strconv.Itoa(max)+
				" characters and no NUL")
			return false
		}
	}
	return true
}
