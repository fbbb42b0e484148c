package issue

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/reaction"
	"arbor/internal/repo"
)

// issueSubject is the issue that {number} names, as package reaction sees it.
// Errors: 404, 410.
func (api *API) issueSubject(r *http.Request, a *repo.Access) (reaction.Subject, error) {
	i, err := api.find(r, a)
	if err != nil {
		return reaction.Subject{}, err
	}
	return reaction.Subject{Kind: reaction.Issue, ID: i.ID, Locked: i.Locked, Changed: func(tx *db.Tx) error {
		return noteReaction(tx, a.ID, "issues", i.ID)
	}}, nil
}

// commentSubject is the comment that {id} names. Errors: 404, 410.
func (api *API) commentSubject(r *http.Request, a *repo.Access) (reaction.Subject, error) {
	c, err := api.findComment(r, a)
	if err != nil {
		return reaction.Subject{}, err
	}
	return reaction.Subject{Kind: reaction.IssueComment, ID: c.ID, Locked: c.Locked, Changed: func(tx *db.Tx) error {
		return noteReaction(tx, a.ID, "issue_comments", c.ID)
	}}, nil
}

// GET /repos/{owner}/{repo}/issues/{number}/reactions
//
// ListReactions answers a page of the reactions to an issue or pull request, see
// reaction.API.List.
func (api *API) ListReactions(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := api.issueSubject(r, a)
	if err != nil {
		return err
	}
	return api.reactions.List(w, r, a, s)
}

// POST /repos/{owner}/{repo}/issues/{number}/reactions
//
// CreateReaction reacts to an issue or pull request, see reaction.API.Create.
func (api *API) CreateReaction(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := api.issueSubject(r, a)
	if err != nil {
		return err
	}
	return api.reactions.Create(w, r, a, s)
}

// DELETE /repos/{owner}/{repo}/issues/{number}/reactions/{reaction_id}
//
// DeleteReaction takes a reaction off an issue or pull request, see
// reaction.API.Delete.
func (api *API) DeleteReaction(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := api.issueSubject(r, a)
	if err != nil {
		return err
	}
	return api.reactions.Delete(w, r, a, s)
}

// GET /repos/{owner}/{repo}/issues/comments/{id}/reactions
//
// ListCommentReactions answers a page of the reactions to a comment.
func (api *API) ListCommentReactions(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := api.commentSubject(r, a)
	if err != nil {
		return err
	}
	return api.reactions.List(w, r, a, s)
}

// POST /repos/{owner}/{repo}/issues/comments/{id}/reactions
//
// CreateCommentReaction reacts to a comment.
func (api *API) CreateCommentReaction(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := api.commentSubject(r, a)
	if err != nil {
		return err
	}
	return api.reactions.Create(w, r, a, s)
}

// DELETE /repos/{owner}/{repo}/issues/comments/{id}/reactions/{reaction_id}
//
// DeleteCommentReaction takes a reaction off a comment.
func (api *API) DeleteCommentReaction(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := api.commentSubject(r, a)
	if err != nil {
		return err
	}
	return api.reactions.Delete(w, r, a, s)
}
