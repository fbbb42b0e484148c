package gitdata

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/web"
)

// maxNewEntries is the maximum number of entries of POST git/trees.
const maxNewEntries = 100_000

// maxTold is the maximum number of errors in one response.
const maxTold = 20

// newEntry is one element of "tree" in POST git/trees.
type newEntry struct {
	path    string
	mode    git.Mode
	sha     git.SHA
	content *string // of a new blob
	remove  bool    // "sha": null
}

// treeInput holds the entries of POST git/trees and their errors.
type treeInput struct {
	entries []newEntry
	wrong   []errs.Field
}

// readEntries reads "tree". It returns a 422 with all errors that can be found without the repository
// (decision 44).
func readEntries(raw json.RawMessage) ([]newEntry, error) {
	in := &treeInput{}
	if len(raw) == 0 || string(raw) == "null" {
		return nil, errs.Validation(errs.Field{Resource: "Tree", Field: "tree", Code: errs.MissingField})
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, treeError("tree", errs.InvalidField, `"tree" must be an array of objects`)
	}
	for d.More() && len(in.wrong) < maxTold {
		if len(in.entries) == maxNewEntries {
			return nil, treeError("tree", errs.InvalidField,
				fmt.Sprintf("tree has more than %d entries", maxNewEntries))
		}
		var fields map[string]json.RawMessage
		if err := d.Decode(&fields); err != nil || fields == nil {
			if _, ok := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !ok {
				return nil, errs.Wrap(errs.Malformed, "Problems parsing JSON", err)
			}
			in.entries = append(in.entries, newEntry{})
			in.refuse("", errs.InvalidField, "must be an object")
			continue
		}
		in.entry(fields)
	}
	if len(in.wrong) == 0 && len(in.entries) == 0 {
		return nil, treeError("tree", errs.InvalidField, "tree must not be empty")
	}
	return in.entries, in.err()
}

func treeError(field, code, message string) error {
	return errs.Validation(errs.Field{Resource: "Tree", Field: field, Code: code, Message: message})
}

func (in *treeInput) err() error {
	if len(in.wrong) == 0 {
		return nil
	}
	return errs.Validation(in.wrong...)
}

// refuse records an error of the last entry.
func (in *treeInput) refuse(field, code, reason string) {
	in.refuseAt(len(in.entries)-1, field, code, reason)
}

// refuseAt records an error of an entry, with its index and path.
func (in *treeInput) refuseAt(i int, field, code, reason string) {
	if len(in.wrong) >= maxTold {
		return
	}
	at := "tree[" + strconv.Itoa(i) + "]"
	name := at
	if path := in.entries[i].path; path != "" {
		name += " " + strconv.Quote(errs.Clip(path))
	}
	if field != "" {
		at += "." + field
		name += ": " + field
	}
	in.wrong = append(in.wrong, errs.Field{Resource: "Tree", Field: at, Code: code,
		Message: name + " " + reason})
}

// unquote parses a JSON string.
func unquote(raw json.RawMessage, s *string) bool {
	return len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, s) == nil
}

// entry reads one entry.
func (in *treeInput) entry(fields map[string]json.RawMessage) {
	in.entries = append(in.entries, newEntry{})
	e := &in.entries[len(in.entries)-1]
	text := func(field string, required bool) (string, bool) {
		raw, sent := fields[field]
		var s string
		switch {
		case !sent || string(raw) == "null":
			if required {
				in.refuse(field, errs.MissingField, "is missing")
			}
			return "", false
		case !unquote(raw, &s):
			in.refuse(field, errs.InvalidField, "must be a string")
			return "", false
		}
		return s, true
	}
	path, named := text("path", true)
	e.path = path
	mode, ok := text("mode", true)
	if ok && !parseMode(mode, &e.mode) {
		in.refuse("mode", errs.InvalidField,
			fmt.Sprintf("%q must be one of 100644, 100755, 040000, 160000, 120000", errs.Clip(mode)))
		ok = false
	}
	if named {
		if problem := git.PathProblem(path, e.mode); problem != "" {
			in.refuse("path", errs.InvalidField, problem)
		}
	}
	if kind, given := text("type", false); given && ok && kind != string(e.mode.Type()) {
		in.refuse("type", errs.InvalidField,
			fmt.Sprintf("%q does not agree with mode %s, which is a %s", errs.Clip(kind), e.mode,
				e.mode.Type()))
	}
	sha, hasSHA := text("sha", false)
	content, hasContent := text("content", false)
	in.object(e, fields, sha, hasSHA, content, hasContent)
}

// object reads sha and content, one of which is required.
func (in *treeInput) object(
	e *newEntry, fields map[string]json.RawMessage, sha string, hasSHA bool, content string, hasContent bool,
) {
	_, sent := fields["sha"]
	e.remove = sent && string(fields["sha"]) == "null"
	switch {
	case (hasSHA || e.remove) && hasContent:
		in.refuse("", errs.InvalidField, "must have either sha or content, not both")
	case hasContent && e.mode != 0 && e.mode.Type() != git.TypeBlob:
		in.refuse("content", errs.InvalidField, "is for blobs, and mode "+e.mode.String()+" is none")
	case hasContent:
		e.content = &content
	case hasSHA:
		parsed, err := git.ParseSHA(sha)
		if err != nil || parsed.IsZero() {
			in.refuse("sha", errs.InvalidField, "must be a full SHA of 40 hexadecimal digits")
		}
		e.sha = parsed
	case !e.remove && string(fields["content"]) != "" && string(fields["content"]) != "null",
		sent && !e.remove:
		// the wrong type has been reported
	case !e.remove:
		in.refuse("sha", errs.MissingField, "or content is missing")
	}
}

// parseMode accepts the five modes that git writes.
func parseMode(s string, m *git.Mode) bool {
	for _, known := range [...]git.Mode{git.ModeFile, git.ModeExecutable, git.ModeTree, git.ModeSubmodule,
		git.ModeSymlink} {
		if s == known.String() {
			*m = known
			return true
		}
	}
	return false
}

// readBaseTree reads base_tree: a full SHA or nothing. An empty string is an error, because a client that
// lost the SHA would otherwise create a tree without the other files.
func readBaseTree(body *web.Object) git.SHA {
	if string(body.Raw("base_tree")) == `""` {
		return parseSHA(&body.Faults, "base_tree", "")
	}
	return readSHA(body, "base_tree", false)
}
