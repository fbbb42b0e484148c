package graphql

import (
	"context"

	"arbor/internal/label"
)

func createLabel(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	to, a, err := m.change(ctx, in, "POST /repos/{owner}/{repo}/labels")
	if err != nil {
		return nil, err
	}
	made, err := m.do.Labels.Create(to, a, label.Edit{Name: m.opt("name"), Color: m.opt("color"),
		Description: m.opt("description")})
	if err != nil {
		return nil, err
	}
	return m.labelPayload(ctx, in, made)
}

func (m *mutation) labelPayload(ctx context.Context, in *object, l *label.Label) (map[string]any, error) {
	o, err := m.shown(ctx, "Label", in, spot{name: l.Name}, l.ID)
	return map[string]any{"label": o}, err
}

func updateLabel(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "id", "Label")
	if err != nil {
		return nil, err
	}
	to, a, err := m.change(ctx, o.repo, "PATCH /repos/{owner}/{repo}/labels/{name}")
	if err != nil {
		return nil, err
	}
	changed, err := m.do.Labels.Edit(to, a, textOf(o.data, "name"), label.Edit{Name: m.opt("name"),
		Color: m.opt("color"), Description: m.opt("description")})
	if err != nil {
		return nil, err
	}
	return m.labelPayload(ctx, o.repo, changed)
}

func deleteLabel(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "id", "Label")
	if err != nil {
		return nil, err
	}
	to, a, err := m.change(ctx, o.repo, "DELETE /repos/{owner}/{repo}/labels/{name}")
	if err != nil {
		return nil, err
	}
	return map[string]any{}, m.do.Deletions.DeleteLabel(to, a, textOf(o.data, "name"))
}

func updateTopics(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	to, a, err := m.change(ctx, o, "PUT /repos/{owner}/{repo}/topics")
	if err != nil {
		return nil, err
	}
	if _, err := m.do.Settings.SetTopics(to, a, m.ids("topicNames")); err != nil {
		return nil, err
	}
	o, err = m.again(ctx, o)
	return map[string]any{"repository": o, "invalidTopicNames": nil}, err
}
