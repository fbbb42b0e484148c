package page

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"arbor/internal/errs"
	"arbor/internal/web"
)

// Form is what a form sent, with one kind of line end: what a browser's text area makes CRLF is LF.
type Form struct{ url.Values }

// MaxFields is how many fields a form may have.
const MaxFields = 1000

// ReadForm reads a form in its usual encoding. Errors: 400, 413, 415.
func ReadForm(r *http.Request) (Form, error) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if strings.TrimSpace(kind) != "application/x-www-form-urlencoded" {
		return Form{}, errs.New(errs.UnsupportedMedia, "a form must be sent as application/x-www-form-urlencoded")
	}
	body, err := web.ReadBody(r)
	if err != nil {
		return Form{}, err
	}
	if strings.Count(string(body), "&") >= MaxFields {
		return Form{}, errs.Newf(errs.Malformed, "a form has at most %d fields", MaxFields)
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return Form{}, errs.New(errs.Malformed, "the form is not encoded as forms are")
	}
	for name, list := range values {
		for n, text := range list {
			if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
				return Form{}, errs.Newf(errs.Malformed, "field %q is not UTF-8 text", errs.Clip(name))
			}
			list[n] = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
		}
	}
	return Form{values}, nil
}

// Text is the field's text without space around it.
func (f Form) Text(name string) string { return strings.TrimSpace(f.Get(name)) }

// List is the field's texts that are not empty.
func (f Form) List(name string) []string {
	list := []string{} // null would be another thing in JSON
	for _, text := range f.Values[name] {
		if text = strings.TrimSpace(text); text != "" {
			list = append(list, text)
		}
	}
	return list
}

// Checked reports a box that was checked, or a button that was pressed.
func (f Form) Checked(name string) bool { return f.Get(name) != "" }

// Choice is a field with a fixed set of values, for the part "choice".
type Choice struct {
	Name, Label, Chosen string
	Options             [][2]string // what is sent, what is shown
}

// Problem is what was wrong with a form, shown above it.
type Problem struct {
	Status  int // of the answer
	Message string
	Fields  []Fault
}

// Fault is what is wrong with a field. The page shows it below the field, too, see faults.go.
type Fault struct {
	Name string // of the field in the form; empty or that of no field: the message has the fault alone
	Text string
}

// ProblemOf returns the part of an error that users can correct: the page shows the form again with their
// input. It returns other errors unchanged.
func ProblemOf(err error) (*Problem, error) {
	switch errs.KindOf(err) {
	case errs.Invalid, errs.Conflict, errs.Forbidden, errs.MethodNotAllowed, errs.Malformed,
		errs.TooLarge, errs.NoRoom,
		errs.TooManyRequests:
	default:
		return nil, err
	}
	var e *errs.Error
	if !errors.As(err, &e) {
		return nil, err
	}
	return &Problem{Status: web.Status(e.Kind), Message: messageOf(e), Fields: fieldMessages(e)}, nil
}

// correct is shown where the API says no more than that fields are wrong, which follow.
const correct = "Correct the following, and send the form again."

// messageOf is an error's message for people.
func messageOf(e *errs.Error) string {
	if e.Message == errs.ValidationFailed {
		return correct
	}
	return e.Message
}

// fieldMessages says in words what is wrong with each field. Names of fields in the API become words, which faults.go
// replaces by the label of the form.
func fieldMessages(e *errs.Error) (list []Fault) {
	for _, f := range e.Fields {
		name := f.Field[strings.LastIndexByte(f.Field, '.')+1:] // config.url is the url of the form
		text, words := f.Message, wordsOf(name)
		switch {
		case text != "" && f.Field != "":
			for _, begin := range []string{strconv.Quote(f.Field) + " ", f.Field + " "} {
				if rest, is := strings.CutPrefix(text, begin); is {
					text = words + " " + rest
				}
			}
		case text != "":
		case f.Code == errs.MissingField:
			text = words + " is missing"
		case f.Code == errs.AlreadyExists:
			text = words + " is taken"
		case f.Code == errs.Missing:
			text = words + " was not found"
		default:
			text = words + " is not valid"
		}
		list = append(list, Fault{name, capital(text)})
	}
	return list
}

// wordsOf is the name of a field of the API as words.
func wordsOf(name string) string { return strings.ReplaceAll(name, "_", " ") }

// capital begins a sentence with a capital letter.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
