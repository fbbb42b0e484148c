package gitlab

import (
	"regexp"
	"strconv"
	"strings"

	"arbor/internal/issue"
	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// noteText are the system notes that become events, by how they begin. GitLab writes them in English
// whatever language people read.
var noteText = []struct {
	begin string
	kind  issue.EventKind
}{
	{"assigned to ", issue.EventAssigned}, {"unassigned ", issue.EventUnassigned},
	{"requested review from ", issue.EventReviewRequested},
	{"removed review request for ", issue.EventRequestRemoved},
	{"changed title from ", issue.EventRenamed},
	{"locked the discussion", issue.EventLocked}, {"locked this ", issue.EventLocked},
	{"unlocked the discussion", issue.EventUnlocked}, {"unlocked this ", issue.EventUnlocked},
	{"changed target branch from ", issue.EventBaseChanged},
	{"marked this merge request as **ready**", issue.EventReady}, {"unmarked as a **Work", issue.EventReady},
	{"marked this merge request as **draft**", issue.EventDrafted}, {"marked as a **Work", issue.EventDrafted},
	{"mentioned in ", issue.EventCrossReferenced},
	{"closed via ", issue.EventClosed}, // states are resource events since 13.0
}

// noteTexts are further system notes, with their whole texts.
var noteTexts = map[string]issue.EventKind{"closed": issue.EventClosed, "reopened": issue.EventReopened,
	"merged": issue.EventMerged}

var (
	renamed    = regexp.MustCompile(`^changed title from \*\*(.*)\*\* to \*\*(.*)\*\*$`)
	deletion   = regexp.MustCompile(`\{-(.*?)-\}`)
	addition   = regexp.MustCompile(`\{\+(.*?)\+\}`)
	notePeople = regexp.MustCompile(`@([0-9A-Za-z_](?:[0-9A-Za-z._-]*[0-9A-Za-z_])?)`)
	mentioner  = regexp.MustCompile(`^mentioned in (?:(?:issue|merge request) )?([#!])([1-9][0-9]{0,12})$`)
	committer  = regexp.MustCompile(`^mentioned in commit ([0-9a-f]{40})$`)
)

// maxNote is the size of the longest system note that is read: a list of commits may be longer, and tells
// nothing here.
const maxNote = 8 << 10

// told reads a system note: it writes events, and notes when somebody approved.
func (c *conversation) told(n *noteAnswer) error {
	if len(n.Body) > maxNote {
		return nil
	}
	text, who := strings.TrimSpace(n.Body), c.s.login(n.Author)
	if text == "approved this merge request" {
		c.approved[who] = n.CreatedAt
		return nil
	}
	for _, out := range c.noted(text) {
		out.Actor, out.CreatedAt, out.Issue = who, n.CreatedAt, c.of.Number
		out.ID = "note-" + strconv.FormatInt(n.ID, 10) + out.ID
		if out.Event == issue.EventClosed.String() {
			c.closer = who
		}
		if err := c.s.Out.Add(migration.Events, out); err != nil {
			return err
		}
	}
	return nil
}

// noted converts the text of a system note to events, without what all events have; their ids differ.
func (c *conversation) noted(text string) (list []*migration.Event) {
	kind := noteTexts[text]
	for _, t := range noteText {
		if kind == 0 && strings.HasPrefix(text, t.begin) {
			kind = t.kind
			break
		}
	}
	if pullsOnly[kind] && c.of.Pull == nil {
		return nil
	}
	switch kind {
	case 0:
		return nil
	case issue.EventAssigned, issue.EventUnassigned, issue.EventReviewRequested, issue.EventRequestRemoved:
		return c.people(kind, text)
	case issue.EventMerged: // GitHub tells both
		return append(list, &migration.Event{Event: kind.String(), Commit: c.of.Pull.MergeSHA},
			&migration.Event{ID: "-closed", Event: issue.EventClosed.String()})
	case issue.EventRenamed:
		if m := renamed.FindStringSubmatch(text); m != nil {
			from, to := deletion.ReplaceAllString(m[1], "$1"), addition.ReplaceAllString(m[2], "$1")
			names := remote.Names(map[string]string{"from": from, "to": to})
			list = append(list, &migration.Event{Event: kind.String(), Rename: names})
		}
		return list
	case issue.EventCrossReferenced:
		if m := committer.FindStringSubmatch(text); m != nil {
			return append(list, &migration.Event{Event: issue.EventReferenced.String(), Commit: m[1]})
		}
		if m := mentioner.FindStringSubmatch(text); m != nil {
			if number := c.s.numbers[strings.TrimPrefix(m[1], "#")+m[2]]; number != 0 {
				list = append(list, &migration.Event{Event: kind.String(), Source: number})
			}
		}
		return list
	}
	return append(list, &migration.Event{Event: kind.String()})
}

// pullsOnly are the events that issues do not have.
var pullsOnly = map[issue.EventKind]bool{issue.EventReviewRequested: true, issue.EventRequestRemoved: true,
	issue.EventBaseChanged: true, issue.EventMerged: true, issue.EventReady: true, issue.EventDrafted: true}

// people returns an event for each person that a note names: "assigned to @a and unassigned @b" are two.
func (c *conversation) people(kind issue.EventKind, text string) (list []*migration.Event) {
	opposite := map[issue.EventKind]struct {
		text string
		kind issue.EventKind
	}{
		issue.EventAssigned:        {"unassigned ", issue.EventUnassigned},
		issue.EventReviewRequested: {"removed review request for ", issue.EventRequestRemoved},
	}
	added, removed := text, ""
	if other := opposite[kind]; other.text != "" {
		added, removed, _ = strings.Cut(text, other.text)
	}
	for n, part := range [...]string{added, removed} {
		for _, m := range notePeople.FindAllStringSubmatch(part, issue.MaxAssignees) {
			event := kind
			if n == 1 {
				event = opposite[kind].kind
			}
			list = append(list, &migration.Event{ID: "-" + strconv.Itoa(len(list)), Event: event.String(),
				Person: c.s.login(&person{Username: m[1]})})
		}
	}
	return list
}
