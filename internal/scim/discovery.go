package scim

import (
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/web"
)

// object is JSON that is written here.
type object map[string]any

// GET /scim/v2/ServiceProviderConfig
//
// GetConfig answers which parts of SCIM there are (RFC 7643, 5). Errors: 403.
func (a *API) GetConfig(w http.ResponseWriter, r *http.Request) error {
	c, err := a.from(r)
	if err != nil {
		return err
	}
	none := object{"supported": false}
	return answer(w, r, http.StatusOK, object{
		"schemas":          []string{"urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"},
		"documentationUri": c.info.Page("/help/sign-in"),
		"patch":            object{"supported": true},
		"bulk":             object{"supported": false, "maxOperations": 0, "maxPayloadSize": 0},
		"filter":           object{"supported": true, "maxResults": maxPage},
		"changePassword":   none, "sort": none, "etag": none,
		"authenticationSchemes": []object{{"type": "oauthbearertoken", "name": "Bearer token", "primary": true,
			"description": "A token of the site administrator who provisions, with the scope scim:enterprise",
			"specUri":     "https://www.rfc-editor.org/info/rfc6750"}},
		"meta": object{"resourceType": "ServiceProviderConfig", "location": c.info.API("/scim/v2/ServiceProviderConfig")},
	})
}

// kinds are the types of resources: name, endpoint, schema.
var kinds = [...][3]string{{"User", "/Users", userSchema}, {"Group", "/Groups", groupSchema}}

func (c *call) resourceType(kind [3]string) object {
	return object{"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:ResourceType"}, "id": kind[0], "name": kind[0],
		"endpoint": kind[1], "schema": kind[2], "schemaExtensions": []object{},
		"meta": object{"resourceType": "ResourceType", "location": c.info.API("/scim/v2/ResourceTypes/" + kind[0])}}
}

// GET /scim/v2/ResourceTypes
//
// ListResourceTypes answers the two types. Errors: 403.
func (a *API) ListResourceTypes(w http.ResponseWriter, r *http.Request) error {
	return a.list(w, r, (*call).resourceType)
}

// list answers something of each type.
func (a *API) list(w http.ResponseWriter, r *http.Request, fn func(*call, [3]string) object) error {
	c, err := a.from(r)
	if err != nil {
		return err
	}
	var list []any
	for _, kind := range kinds {
		list = append(list, fn(&c, kind))
	}
	return answer(w, r, http.StatusOK, newList(int64(len(list)), 1, list))
}

// get answers something of the type of which a name is that of the address.
func (a *API) get(w http.ResponseWriter, r *http.Request, param string, name int, fn func(*call, [3]string) object) error {
	c, err := a.from(r)
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		if strings.EqualFold(kind[name], web.Param(r, param)) {
			return answer(w, r, http.StatusOK, fn(&c, kind))
		}
	}
	return errs.Absent()
}

// GET /scim/v2/ResourceTypes/{resource_type}
//
// GetResourceType answers one of them. Errors: 403, 404.
func (a *API) GetResourceType(w http.ResponseWriter, r *http.Request) error {
	return a.get(w, r, "resource_type", 0, (*call).resourceType)
}

// GET /scim/v2/Schemas
//
// ListSchemas answers the schemas of both types. Errors: 403.
func (a *API) ListSchemas(w http.ResponseWriter, r *http.Request) error {
	return a.list(w, r, (*call).schema)
}

// GET /scim/v2/Schemas/{schema_urn}
//
// GetSchema answers one of them. Errors: 403, 404.
func (a *API) GetSchema(w http.ResponseWriter, r *http.Request) error {
	return a.get(w, r, "schema_urn", 2, (*call).schema)
}

// attribute describes an attribute (RFC 7643, 7).
func attribute(name, kind, mutability string, parts ...object) object {
	o := object{"name": name, "type": kind, "multiValued": false, "description": "", "required": false, "caseExact": false,
		"mutability": mutability, "returned": "default", "uniqueness": "none"}
	if len(parts) > 0 {
		o["subAttributes"] = parts
	}
	return o
}

func (o object) with(key string, value any) object {
	o[key] = value
	return o
}

const (
	writable  = "readWrite"
	immutable = "immutable"
	readOnly  = "readOnly"
)

// several describes an attribute with several values.
func several(name, mutability string, parts ...object) object {
	return attribute(name, "complex", mutability, parts...).with("multiValued", true)
}

// schema describes the attributes of a type.
func (c *call) schema(kind [3]string) object {
	text := func(name string) object { return attribute(name, "string", writable) }
	values := []object{text("value"), text("display"), text("type"), attribute("primary", "boolean", writable)}
	reference := attribute("$ref", "reference", readOnly).with("referenceTypes", []string{"Group"})
	list := []object{
		text("userName").with("required", true).with("uniqueness", "server"),
		text("externalId").with("required", true).with("uniqueness", "server").with("caseExact", true).
			with("mutability", immutable),
		text("displayName"),
		attribute("name", "complex", writable, text("formatted"), text("familyName"), text("givenName"), text("middleName")),
		attribute("active", "boolean", writable),
		several("emails", writable, values...), several("roles", writable, values...),
		several("groups", readOnly, attribute("value", "string", readOnly), reference, attribute("display", "string", readOnly)),
	}
	if kind[0] == "Group" {
		list = []object{
			text("displayName").with("required", true).with("uniqueness", "server"),
			text("externalId").with("uniqueness", "server").with("caseExact", true),
			several("members", writable, attribute("value", "string", immutable),
				attribute("$ref", "reference", immutable).with("referenceTypes", []string{"User"}),
				attribute("display", "string", readOnly), attribute("type", "string", immutable)),
		}
	}
	return object{"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:Schema"}, "id": kind[2], "name": kind[0],
		"description": kind[0], "attributes": list,
		"meta": object{"resourceType": "Schema", "location": c.info.API("/scim/v2/Schemas/" + kind[2])}}
}
