package issue

import (
	"arbor/internal/account"
	"arbor/internal/issue/text"
	"arbor/internal/markdown"
	"arbor/internal/repo"
	"arbor/internal/team"
)

// reference holds the issues that a new text mentions.
type reference struct {
	issues  []markdown.IssueRef
	comment int64 // the comment with the text; 0: the issue's body
}

// namedIssue is an issue that a text mentions.
type namedIssue struct {
	repoID repo.ID
	number int64
	pull   bool // must be a pull request: the repository has issues disabled
}

// ReadText records the mentioned users who can see the repository (decision 14) and the mentioned issues of
// a new text. comment is the text's comment, or 0 for the issue itself.
func (c *Change) ReadText(t Text, comment int64) error {
	if len(t.refs.Issues) > 0 {
		c.references = append(c.references, reference{t.refs.Issues, comment})
	}
	people, err := repo.PeopleNamed(c.Tx, c.Repo, t.refs.Logins)
	if err != nil {
		return err
	}
	for _, p := range people {
		if p.Kind == account.User && p.Role >= account.Pull {
			c.Mention(p.ID)
		}
	}
	return c.mentionTeams(t.refs.Teams)
}

// mentionTeams records the mentioned teams of the repository's organization that the actor sees.
func (c *Change) mentionTeams(refs []markdown.TeamRef) error {
	found, err := team.Mentioned(c.Tx, c.Repo, c.Actor, refs)
	c.teams = append(c.teams, found...)
	return err
}

// MentionedTeams returns the teams that new texts mention.
func (c *Change) MentionedTeams() []team.ID { return c.teams }

// Read records the mentioned users and issues of new texts other than the issue's body and the comments of
// package comment.
func (c *Change) Read(list ...Text) error {
	var all Text
	logins, issues := map[string]bool{}, map[markdown.IssueRef]bool{}
	for _, t := range list {
		for _, l := range t.refs.Logins {
			if !logins[l] && len(logins) < text.MaxTargets {
				logins[l] = true
				all.refs.Logins = append(all.refs.Logins, l)
			}
		}
		all.refs.Teams = append(all.refs.Teams, t.refs.Teams...)
		for _, i := range t.refs.Issues {
			if !issues[i] && len(issues) < text.MaxTargets {
				issues[i] = true
				all.refs.Issues = append(all.refs.Issues, i)
			}
		}
	}
	return c.ReadText(all, 0)
}

// refer adds cross-references to the issues that new texts mention and that are visible to the actor, one
// for each mentioning issue. It takes two statements for each text.
//
// The repositories of those issues are not locked: no cached response that depends on their generations
// shows cross-references.
func (c *Change) refer() error {
	for _, ref := range c.references {
		named, err := c.namedIssues(ref.issues)
		if err == nil && len(named) > 0 {
			err = insertCrossReferences(c.Tx, c.Issue.ID, c.Actor.ID, ref.comment, named)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// namedIssues resolves the issue references of a text in this repository.
func (c *Change) namedIssues(refs []markdown.IssueRef) ([]namedIssue, error) {
	here := &repo.Access{Repo: c.Repo}
	own := text.FullName(here, "", "")
	known := map[string]*repo.Repo{own: c.Repo}
	var foreign []string
	for _, i := range refs {
		if name := text.FullName(here, i.Owner, i.Repo); name != own {
			foreign = append(foreign, name)
		}
	}
	visible, err := repo.VisibleNamed(c.Tx, c.Actor, foreign)
	if err != nil {
		return nil, err
	}
	for _, a := range visible {
		known[account.Fold(a.FullName())] = a.Repo
	}
	var list []namedIssue
	for _, i := range refs {
		if r := known[text.FullName(here, i.Owner, i.Repo)]; r != nil {
			list = append(list, namedIssue{r.ID, i.Number, !r.HasIssues})
		}
	}
	return list, nil
}
