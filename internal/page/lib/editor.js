// The editor of files: CodeMirror in place of the text area, which keeps the text and is what the form sends.
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { cpp } from '@codemirror/lang-cpp';
import { css } from '@codemirror/lang-css';
import { go } from '@codemirror/lang-go';
import { html } from '@codemirror/lang-html';
import { java } from '@codemirror/lang-java';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { markdown, markdownLanguage } from '@codemirror/lang-markdown';
import { php } from '@codemirror/lang-php';
import { python } from '@codemirror/lang-python';
import { rust } from '@codemirror/lang-rust';
import { sql } from '@codemirror/lang-sql';
import { xml } from '@codemirror/lang-xml';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, StreamLanguage, bracketMatching, forceParsing, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { csharp, kotlin, scala } from '@codemirror/legacy-modes/mode/clike';
import { dockerFile } from '@codemirror/legacy-modes/mode/dockerfile';
import { lua } from '@codemirror/legacy-modes/mode/lua';
import { perl } from '@codemirror/legacy-modes/mode/perl';
import { ruby } from '@codemirror/legacy-modes/mode/ruby';
import { shell } from '@codemirror/legacy-modes/mode/shell';
import { swift } from '@codemirror/legacy-modes/mode/swift';
import { toml } from '@codemirror/legacy-modes/mode/toml';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, drawSelection, dropCursor, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const old = (mode) => () => StreamLanguage.define(mode);
const languages = [
	[/\.(c|h|cc|cpp|cxx|hh|hpp)$/, cpp], [/\.(css|scss)$/, css], [/\.go$/, go], [/\.(html?|vue|svelte)$/, html], [/\.java$/, java],
	[/\.([cm]?js|jsx)$/, () => javascript({ jsx: true })], [/\.([cm]?ts|tsx)$/, () => javascript({ jsx: true, typescript: true })],
	[/\.(json|ipynb)$/, json], [/\.(md|markdown|mdown|mkdn?)$/, () => markdown({ base: markdownLanguage })], [/\.php$/, php], [/\.pyi?$/, python],
	[/\.rs$/, rust], [/\.sql$/, sql], [/\.(xml|svg|xsd|xslt?|plist)$/, xml], [/\.ya?ml$/, yaml], [/\.cs$/, old(csharp)], [/\.kts?$/, old(kotlin)],
	[/\.scala$/, old(scala)], [/(^|\/)(dockerfile|containerfile)$|\.dockerfile$/, old(dockerFile)], [/\.lua$/, old(lua)], [/\.p[lm]$/, old(perl)],
	[/\.(rb|rake|gemspec)$|(^|\/)(gemfile|rakefile)$/, old(ruby)], [/\.(sh|bash|zsh)$/, old(shell)], [/\.swift$/, old(swift)],
	[/\.toml$/, old(toml)],
];

// languageOf is the language of a file by its name.
const languageOf = (path) => languages.find(([pattern]) => pattern.test(path.toLowerCase()))?.[1]() ?? [];

// The colours are those of the page.
const colours = HighlightStyle.define([
	{ tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: 'var(--syn-k)' }, { tag: [tags.typeName, tags.className, tags.tagName], color: 'var(--syn-t)' },
	{ tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.attributeName, tags.heading], color: 'var(--syn-f)' },
	{ tag: [tags.string, tags.special(tags.string), tags.regexp, tags.url], color: 'var(--syn-s)' },
	{ tag: [tags.number, tags.bool, tags.null, tags.atom, tags.literal], color: 'var(--syn-m)' },
	{ tag: tags.comment, color: 'var(--syn-c)', fontStyle: 'italic' }, { tag: [tags.propertyName, tags.special(tags.variableName)], color: 'var(--syn-v)' },
	{ tag: tags.heading, fontWeight: 'bold' }, { tag: tags.strong, fontWeight: 'bold' }, { tag: tags.emphasis, fontStyle: 'italic' },
	{ tag: tags.link, textDecoration: 'underline' }, { tag: tags.invalid, color: 'var(--bad)' },
]);

const look = EditorView.theme({
	'&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--back)', fontSize: '13px' },
	'&.cm-focused': { outline: '2px solid var(--focus)' },
	'.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
	'.cm-content': { caretColor: 'var(--ink)' }, '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--ink)' },
	'.cm-gutters': { backgroundColor: 'var(--box)', color: 'var(--soft)', borderRight: '1px solid var(--line)' },
	'.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--sunk) 60%, transparent)' },
	'&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--add-strong)' },
	'.cm-selectionMatch, .cm-searchMatch': { backgroundColor: 'var(--mark)' },
	'.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--sunk)', outline: '1px solid var(--line)' },
	'.cm-panels': { backgroundColor: 'var(--box)', color: 'var(--ink)' },
	'.cm-textfield, .cm-button': { background: 'var(--back)', color: 'var(--ink)', border: '1px solid var(--line)' },
});

// unitOf is the indent of a text: a tab, unless its lines begin with spaces.
function unitOf(text) {
	const spaces = /^( {2,8})\S/m.exec(text);
	return spaces && !/^\t/m.test(text) ? ' '.repeat(Math.min(spaces[1].length, 4)) : '\t';
}

// parsed completes the syntax tree up to the caret before a line is broken. CodeMirror stops parsing after 20 ms and
// without a tree does not indent, so a busy machine would leave the new line at the margin.
const parsed = { key: 'Enter', run: (view) => { forceParsing(view, view.state.selection.main.head, 500); return false; } };

function start(area) {
	const path = document.getElementById('path'), language = new Compartment(), box = document.createElement('div');
	box.className = 'codeeditor';
	area.before(box);
	area.hidden = true;
	// In a shadow tree the editor adopts its style sheets, which the page's policy allows; others it would not.
	const root = box.attachShadow({ mode: 'open', delegatesFocus: true });
	const view = new EditorView({
		root, parent: root, doc: area.value,
		extensions: [lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), drawSelection(), dropCursor(),
			EditorState.tabSize.of(4), indentUnit.of(unitOf(area.value)), indentOnInput(), bracketMatching(), highlightActiveLine(), highlightSelectionMatches(),
			syntaxHighlighting(colours), look, language.of(languageOf(path.value)),
			EditorView.contentAttributes.of({ 'aria-label': 'Text. Press Escape, then Tab to leave the editor.' }),
			keymap.of([{ key: 'Mod-Enter', run: () => { area.form.requestSubmit(area.form.querySelector('button.main')); return true; } },
				parsed, ...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab]),
			EditorView.updateListener.of((update) => { if (update.docChanged) area.value = update.state.doc.toString(); })],
	});
	path.addEventListener('change', () => view.dispatch({ effects: language.reconfigure(languageOf(path.value)) }));
	document.querySelector('label[for=text]').addEventListener('click', () => view.focus());
}

const area = document.querySelector('.editfile textarea#text');
if (area) start(area);
