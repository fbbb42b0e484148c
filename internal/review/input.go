package review

import (
	"encoding/json"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/web"
)

// maxComments is the maximum number of comments in one request.
const maxComments = 500

// readText reads the body of a comment, which must not be blank and has at most MaxBody code points.
func readText(body *web.Object) issue.Text {
	body.Require("body")
	text := body.String("body", issue.MaxBody)
	if text.Value != "" && strings.TrimSpace(text.Value) == "" {
		body.Wrong("body", errs.MissingField, "body can't be blank")
	}
	return issue.Text{Body: &text.Value}
}

// checkText notes a comment's text that is blank or too long.
func checkText(f *web.Faults, text string) {
	f.CheckFilled("body", text)
	f.CheckText("body", text, issue.MaxBody)
}

// parsed reads what a text says, once it is known to be acceptable.
func parsed(t issue.Text) issue.Text { return issue.NewText(*t.Body) }

// readCommit reads commit_id, or returns "".
func readCommit(body *web.Object) git.SHA {
	v := body.String("commit_id", 0)
	if !v.Given() || v.Value == "" {
		return ""
	}
	sha, err := git.ParseSHA(v.Value)
	if err != nil {
		body.Wrong("commit_id", errs.Custom, "commit_id is not part of the pull request")
	}
	return sha
}

// readAnchor reads the position of a comment.
func readAnchor(body *web.Object) Anchor {
	body.Require("path")
	a := Anchor{Path: body.String("path", 0).Value, Side: Right}
	kind := body.Enum("subject_type", "line", "file")
	side, startSide := body.Enum("side", "LEFT", "RIGHT"), body.Enum("start_side", "LEFT", "RIGHT")
	line, start, position := body.Int("line"), body.Int("start_line"), body.Int("position")
	a.Whole = kind.Value == "file"
	if a.Whole {
		return a
	}
	if side.Given() {
		a.Side = parseSide(side.Value)
	}
	switch {
	case line.Given():
		if a.Spot.Line = line.Value; line.Value < 1 {
			a.Spot.Line = -1 // not in any diff
		}
		if start.Given() {
			if a.Spot.Start = start.Value; start.Value < 1 {
				a.Spot.Start = -1
			}
			if a.StartSide = a.Side; startSide.Given() {
				a.StartSide = parseSide(startSide.Value)
			}
		}
	case position.Given():
		a.Spot.Position = position.Value
	default:
		body.Wrong("line", errs.MissingField, "")
	}
	return a
}

// ReadComment decodes a new comment from an object with the fields of POST .../pulls/{number}/comments. Error: 422.
func ReadComment(body *web.Object) (NewComment, error) {
	n := NewComment{Text: readText(body)}
	if to := body.Int("in_reply_to"); to.Given() {
		if n.ReplyTo = to.Value; to.Value < 1 {
			body.Wrong("in_reply_to", errs.InvalidField, "")
		}
	} else {
		body.Require("commit_id")
		n.Anchor = readAnchor(body)
		n.Anchor.Commit = readCommit(body)
	}
	if err := body.Err(); err != nil {
		return n, err
	}
	n.Text = parsed(n.Text)
	return n, nil
}

// check reports what is wrong with the values of a new comment. Error: 422.
func (n *NewComment) check() error {
	f := web.Faults{Resource: CommentResource}
	checkText(&f, bodyOf(n.Text))
	if n.ReplyTo != 0 {
		return f.Err()
	}
	if n.Anchor.Commit == "" {
		f.Wrong("commit_id", errs.MissingField, "")
	}
	if n.Anchor.Path == "" {
		f.Wrong("path", errs.MissingField, "")
	}
	return f.Err()
}

// NewSummary returns the summary of a review; a blank text counts as no summary.
func NewSummary(text string) issue.Text {
	if strings.TrimSpace(text) == "" {
		return issue.Text{}
	}
	return issue.NewText(text)
}

// ParseEvent parses the event of a review: APPROVE, REQUEST_CHANGES or COMMENT. Error: 422.
func ParseEvent(name string) (State, error) {
	f := web.Faults{Resource: Resource}
	f.CheckEnum("event", name, events[:]...)
	return verdicts[name], f.Err()
}

// events are the events of a request.
var events = [...]string{"APPROVE", "REQUEST_CHANGES", "COMMENT"}

// verdicts are the events of a request, and the states that they lead to.
var verdicts = map[string]State{"APPROVE": Approved, "REQUEST_CHANGES": ChangesRequested,
	"COMMENT": Commented}

func readVerdict(body *web.Object) web.Opt[string] {
	return body.Enum("event", events[:]...)
}

// ReadReview decodes a new review from an object with the fields of POST .../pulls/{number}/reviews. Error: 422.
func ReadReview(body *web.Object) (NewReview, error) {
	n := NewReview{State: Pending}
	text := body.String("body", issue.MaxBody)
	if event := readVerdict(body); event.Given() {
		n.State = verdicts[event.Value]
	}
	n.Commit = readCommit(body)
	var list []json.RawMessage
	if raw := body.Raw("comments"); raw != nil && json.Unmarshal(raw, &list) != nil {
		body.Wrong("comments", errs.InvalidField, `"comments" must be an array of objects`)
	}
	if len(list) > maxComments {
		body.Wrong("comments", errs.InvalidField,
			"comments has more than "+strconv.Itoa(maxComments)+" entries")
	}
	if err := body.Err(); err != nil {
		return n, err
	}
	n.Text = NewSummary(text.Value)
	for _, raw := range list {
		one, err := web.ParseObject(raw, CommentResource)
		if errs.Is(err, errs.Malformed) {
			return n, errs.Validation(errs.Field{Resource: Resource, Field: "comments",
				Code:    errs.InvalidField,
				Message: `"comments" must be an array of objects`})
		}
		if err != nil {
			return n, err
		}
		c := NewComment{Text: readText(one), Anchor: readAnchor(one)}
		if err := one.Err(); err != nil {
			return n, err
		}
		c.Text = parsed(c.Text)
		n.Comments = append(n.Comments, c)
	}
	return n, nil
}
