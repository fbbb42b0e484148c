package graphql

import (
	"context"
	"net/http"
	"strings"
)

func createRef(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	data, err := m.change(ctx, http.MethodPost, in.path("git", "refs"), map[string]any{"ref": m.text("name"), "sha": m.text("oid")})
	if err != nil {
		return nil, err
	}
	return refPayload(in, data), nil
}

func refPayload(in *object, data payload) map[string]any {
	return map[string]any{"ref": &object{kind: "Ref", data: data, whole: true, repo: in}}
}

// refPath is where REST changes a ref.
func refPath(o *object) string {
	return o.repo.source.Path + "/git/refs/" + escapeRef(strings.TrimPrefix(textOf(o.data, "ref"), "refs/"))
}

func updateRef(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "refId", "Ref")
	if err != nil {
		return nil, err
	}
	body := map[string]any{"sha": m.text("oid"), "force": m.input["force"] == true}
	data, err := m.change(ctx, http.MethodPatch, refPath(o), body)
	if err != nil {
		return nil, err
	}
	return refPayload(o.repo, data), nil
}

func deleteRef(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "refId", "Ref")
	if err != nil {
		return nil, err
	}
	_, err = m.change(ctx, http.MethodDelete, refPath(o), nil)
	return map[string]any{}, err
}

// mergeBranch merges a branch or a commit into a branch.
func mergeBranch(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	if m.given("authorEmail") {
		return nil, refused("A merge is authored with the e-mail address of who makes it.")
	}
	body := map[string]any{"base": m.text("base"), "head": m.text("head")}
	m.copy(body, "commitMessage", "commit_message")
	data, err := m.change(ctx, http.MethodPost, in.path("merges"), body)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, refused("Already merged")
	}
	made, err := listedCommit(in, data)
	return map[string]any{"mergeCommit": made}, err
}
