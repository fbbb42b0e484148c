package issue

import (
	"strconv"

	"arbor/internal/account"
	"arbor/internal/issue/text"
	"arbor/internal/issuekit"
	"arbor/internal/web"
)

// row is an issue being rendered.
type row struct {
	*Issue
	page *page
	at   *issuekit.Addresses
	body text.Payload
}

// member is a member of an issue's JSON object.
type member struct {
	key   string // with quotes and colon: "title":
	value func(b []byte, r *row) []byte
	when  func(r *row) bool // nil: always
}

// members are all members in order.
var members = []member{
	{key: `"url":`, value: func(b []byte, r *row) []byte { return r.address(b, "") }},
	{key: `"repository_url":`, value: func(b []byte, r *row) []byte { return quoted(b, r.at.API) }},
	{key: `"labels_url":`, value: func(b []byte, r *row) []byte { return r.address(b, "/labels{/name}") }},
	{key: `"comments_url":`, value: func(b []byte, r *row) []byte { return r.address(b, "/comments") }},
	{key: `"events_url":`, value: func(b []byte, r *row) []byte { return r.address(b, "/events") }},
	{key: `"html_url":`, value: func(b []byte, r *row) []byte { return r.pageAddress(b, "") }},
	{key: `"id":`, value: func(b []byte, r *row) []byte { return strconv.AppendInt(b, int64(r.ID), 10) }},
	{key: `"node_id":`, value: func(b []byte, r *row) []byte {
		return append(account.AppendNodeID(append(b, '"'), nodeKind(r.Issue), r.ID), '"')
	}},
	{key: `"number":`, value: func(b []byte, r *row) []byte { return strconv.AppendInt(b, r.Number, 10) }},
	{key: `"title":`, value: func(b []byte, r *row) []byte { return web.AppendString(b, r.Title) }},
	{key: `"user":`, value: func(b []byte, r *row) []byte { return r.person(b, r.AuthorID) }},
	{key: `"labels":`, value: appendLabels},
	{key: `"state":`, value: func(b []byte, r *row) []byte { return quoted(b, r.State.String()) }},
	{key: `"locked":`, value: func(b []byte, r *row) []byte { return strconv.AppendBool(b, r.Locked) }},
	{key: `"assignee":`, value: appendAssignee},
	{key: `"assignees":`, value: appendAssignees,
		when: func(r *row) bool { return r.page.info.Media.Preview(web.Assignees) }},
	{key: `"milestone":`, value: func(b []byte, r *row) []byte {
		return append(b, r.page.milestoneOf(r.at, r.MilestoneID)...)
	}},
	{key: `"comments":`, value: func(b []byte, r *row) []byte {
		return strconv.AppendInt(b, r.Comments, 10)
	}},
	{key: `"created_at":`, value: func(b []byte, r *row) []byte { return r.CreatedAt.AppendJSON(b) }},
	{key: `"updated_at":`, value: func(b []byte, r *row) []byte { return r.UpdatedAt.AppendJSON(b) }},
	{key: `"closed_at":`, value: func(b []byte, r *row) []byte { return r.ClosedAt.AppendJSON(b) }},
	{key: `"author_association":`, value: func(b []byte, r *row) []byte {
		return quoted(b, r.page.association(r.Issue))
	}},
	{key: `"active_lock_reason":`, value: func(b []byte, r *row) []byte {
		return appendOptional(b, r.LockReason)
	}},
	{key: `"draft":`, when: isPull, value: func(b []byte, r *row) []byte {
		return strconv.AppendBool(b, r.Draft)
	}},
	{key: `"pull_request":`, when: isPull, value: appendPull},
	{key: `"body":`, when: func(r *row) bool { return r.body.Raw != nil },
		value: func(b []byte, r *row) []byte { return appendOptional(b, *r.body.Raw) }},
	{key: `"body_text":`, when: func(r *row) bool { return r.body.Text != nil },
		value: func(b []byte, r *row) []byte { return appendOptional(b, *r.body.Text) }},
	{key: `"body_html":`, when: func(r *row) bool { return r.body.HTML != nil },
		value: func(b []byte, r *row) []byte { return appendOptional(b, *r.body.HTML) }},
	{key: `"closed_by":`, when: func(r *row) bool { return r.page.full },
		value: func(b []byte, r *row) []byte { return r.person(b, r.ClosedBy) }},
	{key: `"reactions":`, when: func(r *row) bool { return r.page.reactions },
		value: func(b []byte, r *row) []byte {
			return r.page.rollups[r.ID].AppendJSON(b, r.at.API+"/issues/"+strconv.FormatInt(r.Number, 10)+"/reactions")
		}},
	{key: `"timeline_url":`, value: func(b []byte, r *row) []byte { return r.address(b, "/timeline") }},
	{key: `"performed_via_github_app":`, value: func(b []byte, _ *row) []byte {
		return append(b, "null"...)
	}},
	{key: `"state_reason":`, value: func(b []byte, r *row) []byte {
		return appendOptional(b, r.StateReason.orNil())
	}},
	{key: `"repository":`, when: func(r *row) bool { return r.page.repository != nil },
		value: func(b []byte, r *row) []byte { return append(b, r.page.repositoryOf(r.RepoID)...) }},
}

func isPull(r *row) bool { return r.Pull }

func nodeKind(i *Issue) string {
	if i.Pull {
		return "PullRequest"
	}
	return "Issue"
}

// address appends an API address below the issue's.
func (r *row) address(b []byte, end string) []byte {
	b = append(b, '"')
	b = append(b, r.at.API...)
	b = append(b, "/issues/"...)
	b = strconv.AppendInt(b, r.Number, 10)
	b = append(b, end...)
	return append(b, '"')
}

// pageAddress appends the address of the issue's page.
func (r *row) pageAddress(b []byte, end string) []byte {
	b = append(b, '"')
	b = append(b, r.at.Page...)
	b = append(b, issuekit.PageSegment(r.Pull)...)
	b = strconv.AppendInt(b, r.Number, 10)
	b = append(b, end...)
	return append(b, '"')
}

// person appends an account.
func (r *row) person(b []byte, id account.ID) []byte { return append(b, r.page.user(id)...) }

// quoted appends a string that needs no escaping.
func quoted(b []byte, s string) []byte { return append(append(append(b, '"'), s...), '"') }

func appendLabels(b []byte, r *row) []byte {
	b = append(b, '[')
	first := true
	for _, id := range r.Labels {
		part := r.page.label(r.at, id)
		if part == nil {
			continue // deleted
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, part...)
	}
	return append(b, ']')
}

func appendAssignee(b []byte, r *row) []byte {
	if len(r.Assignees) == 0 {
		return append(b, "null"...)
	}
	return r.person(b, r.Assignees[0])
}

func appendAssignees(b []byte, r *row) []byte {
	b = append(b, '[')
	for n, id := range r.Assignees {
		if n > 0 {
			b = append(b, ',')
		}
		b = r.person(b, id)
	}
	return append(b, ']')
}

// appendPull appends the member pull_request (decision 26).
func appendPull(b []byte, r *row) []byte {
	b = append(b, `{"url":"`...)
	b = append(b, r.at.API...)
	b = append(b, "/pulls/"...)
	b = strconv.AppendInt(b, r.Number, 10)
	b = r.pageAddress(append(b, `","html_url":`...), "")
	b = r.pageAddress(append(b, `,"diff_url":`...), ".diff")
	b = r.pageAddress(append(b, `,"patch_url":`...), ".patch")
	b = append(b, `,"merged_at":`...)
	return append(r.MergedAt.AppendJSON(b), '}')
}

func appendOptional(b []byte, s *string) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return web.AppendString(b, *s)
}
