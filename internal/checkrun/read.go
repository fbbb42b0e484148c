package checkrun

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/web"
)

// ReadNew decodes a new run from an object with the fields of POST .../check-runs. Error: 422.
func ReadNew(body *web.Object) (git.SHA, *Change, error) {
	body.Require("head_sha")
	requireSent(body, "name")
	sha, err := readSHA(body)
	if err != nil {
		return "", nil, err
	}
	c, err := readChange(body, "title", "summary")
	return sha, c, err
}

// readSHA reads head_sha. Error: 422 if it is not a full SHA.
func readSHA(body *web.Object) (git.SHA, error) {
	text := body.String("head_sha", 0)
	if text.Value == "" {
		return "", body.Err()
	}
	return ParseSHA(text.Value)
}

// ParseSHA parses the full SHA of a commit. Error: 422.
func ParseSHA(text string) (git.SHA, error) {
	sha, err := git.ParseSHA(text)
	if err != nil {
		return "", noCommit(errs.Clip(text))
	}
	return sha, nil
}

// ReadChange decodes an update of a run from an object with the fields of PATCH .../check-runs/{check_run_id}. Error:
// 422.
func ReadChange(body *web.Object) (*Change, error) { return readChange(body, "summary") }

// readChange reads the fields of a run. The arguments name the required fields of output. Error: 422.
func readChange(body *web.Object, output ...string) (*Change, error) {
	c := &Change{}
	c.Name = readName(body)
	c.DetailsURL = readURL(body, "details_url")
	c.ExternalID = given(body.String("external_id", maxExternalID))
	c.StartedAt = readTime(body, "started_at")
	readState(body, c)
	c.Actions = readArray(body, "actions", maxActions, readAction)
	var failed error
	if raw := body.Raw("output"); raw != nil && !isNull(raw) {
		out, err := web.ParseObject(raw, Resource)
		if err != nil {
			body.Wrong("output", errs.InvalidField, `"output" must be an object`)
		} else {
			failed = readOutput(out, c, output)
		}
	}
	if err := body.Err(); err != nil {
		return nil, err
	}
	return c, failed
}

// readName reads the name of a run, which must not be blank.
func readName(body *web.Object) *string {
	name := given(body.String("name", maxName))
	if name != nil && strings.TrimSpace(*name) == "" &&
		bytes.HasPrefix(bytes.TrimSpace(body.Raw("name")), []byte(`"`)) {
		body.Wrong("name", errs.MissingField, "")
	}
	return name
}

// readState reads status, conclusion and completed_at. Each of the last two implies that the run is
// completed.
func readState(body *web.Object, c *Change) {
	status := body.Enum("status", statuses[:]...)
	conclusion := body.Enum("conclusion", conclusions[:]...)
	c.Status = Status(numberOf(statuses[:], status.Value))
	c.Conclusion = Conclusion(numberOf(conclusions[:], conclusion.Value))
	c.CompletedAt = readTime(body, "completed_at")
	if c.Conclusion != 0 || !c.CompletedAt.IsZero() {
		c.Status = Completed
	}
	if c.Status == Completed && !conclusion.Given() {
		body.Require("conclusion")
	}
}

func readOutput(out *web.Object, c *Change, require []string) error {
	for _, field := range require {
		requireSent(out, field) // may be empty: reviewdog sends empty ones
	}
	c.Title = given(out.String("title", maxTitle))
	c.Summary = given(out.String("summary", maxText))
	c.Text = given(out.String("text", maxText))
	c.Images = readArray(out, "images", maxImages, readImage)
	list := items(out, "annotations", maxPart)
	for _, raw := range list {
		one, err := web.ParseObject(raw, "CheckAnnotation")
		if err != nil {
			out.Wrong("annotations", errs.InvalidField, `"annotations" must be an array of objects`)
			break
		}
		note := readAnnotation(one)
		if err := one.Err(); err != nil {
			return err
		}
		c.Annotations = append(c.Annotations, note)
	}
	return out.Err()
}

// readAnnotation reads one annotation.
func readAnnotation(o *web.Object) Annotation {
	o.Require("path", "start_line", "end_line", "annotation_level", "message")
	level := o.Enum("annotation_level", levels[:]...)
	a := Annotation{Path: o.String("path", maxPath).Value, Level: Level(numberOf(levels[:], level.Value)),
		Message: o.String("message", maxText).Value, Title: given(o.String("title", maxTitle)),
		RawDetails: given(o.String("raw_details", maxText))}
	line := func(field string) *int64 {
		n := o.Int(field)
		if !n.Given() {
			return nil
		}
		if n.Value < 0 || n.Value >= maxLine {
			o.WrongValue(field, n.Value)
		}
		return &n.Value
	}
	start, end := line("start_line"), line("end_line")
	a.StartColumn, a.EndColumn = line("start_column"), line("end_column")
	if start == nil || end == nil {
		return a // Require or Int has reported it
	}
	a.StartLine, a.EndLine = *start, *end
	if a.EndLine < a.StartLine {
		o.WrongValue("end_line", a.EndLine)
	}
	if a.StartLine != a.EndLine && (a.StartColumn != nil || a.EndColumn != nil) {
		o.Wrong("start_column", errs.InvalidField, "columns are for annotations of one line")
	}
	return a
}

// image and action define the stored JSON, which pages read.
type image struct {
	Alt     string `json:"alt"`
	URL     string `json:"image_url"`
	Caption string `json:"caption,omitempty"`
}

type action struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Identifier  string `json:"identifier"`
}

func readImage(o *web.Object) any {
	o.Require("alt", "image_url")
	i := image{Alt: o.String("alt", maxTitle).Value, Caption: o.String("caption", maxTitle).Value}
	if address := readURL(o, "image_url"); address != nil {
		i.URL = *address
	}
	return i
}

func readAction(o *web.Object) any {
	o.Require("label", "description", "identifier")
	return action{o.String("label", maxLabel).Value, o.String("description", maxExplanation).Value,
		o.String("identifier", maxLabel).Value}
}

// readArray reads an array of at most max objects and returns it as stored JSON, or nil if it was not sent.
func readArray(o *web.Object, field string, max int, read func(*web.Object) any) *string {
	list := items(o, field, max)
	if list == nil {
		return nil
	}
	kept := make([]any, len(list))
	for n, raw := range list {
		one, err := web.ParseObject(raw, Resource)
		if err == nil {
			kept[n] = read(one)
			err = one.Err()
		}
		if err != nil {
			o.Wrong(field, errs.InvalidField, "an entry of "+field+" cannot be: "+err.Error())
			return nil
		}
	}
	b, err := json.Marshal(kept)
	if err != nil {
		o.Wrong(field, errs.InvalidField, field+" cannot be stored")
		return nil
	}
	return new(string(b))
}

// items returns the elements of an array of at most max elements, or nil if it was not sent.
func items(o *web.Object, field string, max int) []json.RawMessage {
	raw := o.Raw(field)
	if raw == nil || isNull(raw) {
		return nil
	}
	list := []json.RawMessage{}
	if json.Unmarshal(raw, &list) != nil {
		o.Wrong(field, errs.InvalidField, strconv.Quote(field)+" must be an array of objects")
	}
	if len(list) > max {
		o.Wrong(field, errs.InvalidField, field+" has more than "+strconv.Itoa(max)+" entries")
		return nil
	}
	return list
}

func isNull(raw []byte) bool { return bytes.Equal(bytes.TrimSpace(raw), []byte("null")) }

// requireSent requires a field that may be empty.
func requireSent(o *web.Object, field string) {
	if raw := o.Raw(field); raw == nil || isNull(raw) {
		o.Require(field)
	}
}

// given returns a pointer to the value, or nil if it was not sent.
func given[T any](o web.Opt[T]) *T {
	if !o.Given() {
		return nil
	}
	return &o.Value
}

// readURL reads an http or https URL, which pages may link to. It may be empty.
func readURL(o *web.Object, field string) *string {
	text := given(o.String(field, maxURL))
	if text == nil || *text == "" {
		return text
	}
	u, err := url.Parse(*text)
	if err != nil || u.Host == "" || !strings.EqualFold(u.Scheme, "http") &&
		!strings.EqualFold(u.Scheme, "https") {
		o.Wrong(field, errs.Custom, field+" must use http or https scheme")
	}
	return text
}

// readTime reads a time. It returns 0 if none was sent.
func readTime(o *web.Object, field string) db.Time {
	text := o.String(field, 0)
	if text.Value == "" {
		return 0
	}
	t, ok := web.ParseTime(text.Value)
	if !ok {
		o.Wrong(field, errs.InvalidField, field+" must be a time such as 2011-04-22T13:33:48Z")
		return 0
	}
	return max(db.FromTime(t), 1) // 0 means unset
}
