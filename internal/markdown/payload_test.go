package markdown

// payloads are ways in which bodies got scripts, forged links or foreign forms
// into pages of Markdown renderers and sanitizers.
var payloads = []string{
	// Elements that run, load or submit.
	"<script>alert(1)</script>", "<ScRiPt>alert(1)</sCrIpT>", "<script/x>alert(1)</script>", "<script\n>alert(1)</script\n>",
	"<scr<script>ipt>alert(1)</scr</script>ipt>", "<<script>alert(1);//<</script>", "<script>alert(1)", "</script><script>alert(1)</script>",
	"<script src=//h/x.js></script>", "<script src=data:text/javascript,alert(1)>", "<iframe src=javascript:alert(1)></iframe>",
	"<iframe srcdoc='<script>alert(1)</script>'>", "<object data=javascript:alert(1)>", "<embed src=javascript:alert(1)>",
	"<form action=javascript:alert(1)><input type=submit></form>", "<button formaction=javascript:alert(1)>x</button>",
	"<input type=image src=x onerror=alert(1)>", "<input type=checkbox onclick=alert(1) form=f name=n value=v>",
	"<link rel=stylesheet href=//h/x.css>", "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>", "<base href=javascript:alert(1)//>",
	"<style>@import '//h/x.css';</style>", "<style>*{background:url(javascript:alert(1))}</style>", "<video src=x onerror=alert(1)>",
	"<video><source onerror=alert(1)></video>", "<audio src=x onerror=alert(1)>", "<marquee onstart=alert(1)>", "<body onload=alert(1)>",
	"<html onclick=alert(1)>", "<frameset onload=alert(1)>", "<isindex action=javascript:alert(1) type=image>", "<keygen onfocus=alert(1) autofocus>",
	"<textarea autofocus onfocus=alert(1)>", "<select autofocus onfocus=alert(1)><option>", "<dialog open onclose=alert(1)>",
	"<portal src=javascript:alert(1)>", "<x-y onclick=alert(1)>", "<applet code=x>", "<layer src=javascript:alert(1)>",
	// Attributes.
	"<img src=x onerror=alert(1)>", "<img src=`javascript:alert(1)`>", "<img src='x'onerror=alert(1)>", "<img/src=x/onerror=alert(1)>",
	"<img src=http://h/x\tonerror=alert(1)>", "<img \"\"\"><script>alert(1)</script>\">", "<img src=http://h onload\n=alert(1)>",
	"<img src=http://h/ srcset='javascript:alert(1) 1x'>", "<img src=http://h ONERROR=alert(1)>", "<img src=http://h lowsrc=javascript:alert(1)>",
	"<img src=http://h alt='\"><script>alert(1)</script>'>", "<b onmouseover=alert(1)>x</b>", "<p style='background:url(javascript:alert(1))'>",
	"<div style=position:fixed;inset:0><a href=//h>x</a></div>", "<a href=http://h ping=//h target=_blank rel=opener>x</a>",
	"<a href=/x href=javascript:alert(1)>x</a>", "<a href='/x' id=location name=cookie>x</a>", "<td background=javascript:alert(1)>",
	"<details open ontoggle=alert(1)>", "<a class='user-mention' href=//h>@admin</a>", "<a class=\"issue-link js-x\" data-method=delete href=/x>",
	"<li class='task-list-item x'>", "<code class='language-x onclick'>", "<p title='\"onmouseover=alert(1) x=\"'>", "<ol type=javascript start=1e9>",
	"<img src=http://h width=1e9 height=100vh>", "<b id=\"'><script>alert(1)</script>\">", "<q cite=javascript:alert(1)>", "<a xlink:href=javascript:alert(1)>",
	"<div contenteditable autofocus onfocus=alert(1) tabindex=1>", "<span slot=x is=y part=z popover>", "<b/onclick=alert(1)//>x", "<b a='>' onclick=alert(1)>",
	// Schemes.
	"<a href=javascript:alert(1)>x</a>", "<a href=JaVaScRiPt:alert(1)>x</a>", "<a href=' javascript:alert(1)'>x</a>", "<a href='java\tscript:alert(1)'>x</a>",
	"<a href='java\nscript:alert(1)'>x</a>", "<a href=\"&#106;avascript:alert(1)\">x</a>", "<a href=\"&#x6A&#x61vascript&colon;alert(1)\">x</a>",
	"<a href='java&Tab;script&colon;alert(1)'>x</a>", "<a href='&#1;javascript:alert(1)'>x</a>", "<a href='\x01javascript:alert(1)'>x</a>",
	"<a href=vbscript:x>x</a>", "<a href=data:text/html;base64,PHNjcmlwdD4=>x</a>", "<a href='feed:javascript:alert(1)'>x</a>",
	"<a href='view-source:javascript:alert(1)'>x</a>", "<a href='javascript\x00:alert(1)'>x</a>", "<a href='\u00a0javascript:alert(1)'>x</a>",
	"<a href='javascrıpt:alert(1)'>x</a>", "<a href='ſcript:x'>x</a>", "<a href='//h\\@x'>x</a>", "<a href='/\\h'>x</a>", "<a href='http://[::1'>x</a>",
	"<img src=data:image/svg+xml;base64,PHN2Zz4=>", "<img src=' https://h/x'>", "<img src=HTTPS://h/x>", "<img src=javascript:alert(1)//https://h>",
	"[x](javascript:alert(1))", "[x](JAVASCRIPT:alert(1))", "[x](<javascript:alert(1)>)", "[x](java&#x09;script:alert(1))", "[x](&#106;avascript:alert(1))",
	"[x](javascript&colon;alert(1))", "[x](data:text/html,<script>alert(1)</script>)", "[x](vbscript:x)", "[x](\\javascript:alert(1))", "![x](javascript:alert(1))",
	"![x](data:image/svg+xml,<svg onload=alert(1)>)", "<javascript:alert(1)>", "<data:text/html,x>", "<vbscript:x>", "[x]\n\n[x]: javascript:alert(1)",
	"[x][y]\n\n[y]: <data:text/html,x> 't'", "[x](javascript:/**/alert(1) \"t\")", "[x](file:///etc/passwd)", "[x]( javascript:alert(1) )", "[x](blob:http://h/x)",
	// Breaking out of what Markdown writes.
	`[x](http://h"onmouseover="alert(1))`, `[x](http://h "t\"onmouseover=alert(1) x=\"")`, `[x](http://h 't"><script>alert(1)</script>')`,
	`![a" onerror="alert(1)](http://h)`, `![a](http://h"onerror="alert(1))`, "![<img src=x onerror=alert(1)>](http://h)", `<http://h"onclick="alert(1)>`,
	`http://h.com/"onclick=alert(1)`, "http://h.com/<script>alert(1)</script>", "<a@b.c\"onclick=alert(1)>", "www.h.com/'onclick=alert(1)//", "```\"><script>alert(1)</script>\nx\n```",
	"```x onclick=alert(1)\ny\n```", "# <img src=x onerror=alert(1)>", "# x {onclick=alert(1)}", "|<script>|\n|-|\n|alert(1)|", "|a|\n|:-\"onclick=x|\n|b|",
	"- <b onclick=alert(1)>\n- </b>", "`<script>alert(1)</script>`", "    <script>alert(1)</script>", "\\<script>alert(1)\\</script>", "&lt;script&gt;alert(1)&lt;/script&gt;",
	"&#60;script&#62;alert(1)", "<b>*<i>*</b>*</i>*", "*<a title=\"*\" onclick=alert(1)>*", "[a](<b\"><script>alert(1)</script>)", "[<script>alert(1)</script>](x)",
	// Text that one parser reads as tags and another does not.
	"<svg><style><img src=x onerror=alert(1)></style></svg>", "<svg onload=alert(1)>", "<svg><a xlink:href=javascript:alert(1)><text>x</text></a></svg>",
	"<svg><script>alert(1)</script></svg>", "<svg><p><style><g title='</style><img src=x onerror=alert(1)>'>", "<svg></p><style><a id='</style><img src=1 onerror=alert(1)>'>",
	"<svg><![CDATA[><img src=x onerror=alert(1)>]]></svg>", "<svg><foreignObject><iframe src=javascript:alert(1)>", "<svg><animate onbegin=alert(1)>", "<svg><use href=data:x>",
	"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>", "<math href=javascript:alert(1)>x</math>",
	"<math><annotation-xml encoding=text/html><script>alert(1)</script>", "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
	"<noscript><p title='</noscript><img src=x onerror=alert(1)>'>", "<template><script>alert(1)</script></template>", "<template><p title='</template><img src=x onerror=alert(1)>'>",
	"<title><img title='</title><img src=x onerror=alert(1)>'>", "<textarea><p title='</textarea><img src=x onerror=alert(1)>'>", "<xmp><p title='</xmp><img src=x onerror=alert(1)>'>",
	"<noembed><p title='</noembed><img src=x onerror=alert(1)>'>", "<noframes><p title='</noframes><img src=x onerror=alert(1)>'>", "<iframe><p title='</iframe><img src=x onerror=alert(1)>'>",
	"<plaintext><script>alert(1)</script>", "<listing>&lt;img src=x onerror=alert(1)&gt;</listing>", "<select><iframe></select><img src=x onerror=alert(1)>",
	"<table><td><form><table><form></table><img src=x onerror=alert(1)>", "<table><a href=/x><table><a href=/y>z", "<p><table><p><b><table>", "<a><table><td><a><table></table></a>",
	"<!--><script>alert(1)</script>-->", "<!-- --!><script>alert(1)</script> -->", "<!---><img src=x onerror=alert(1)>-->", "<!--\n\n<script>alert(1)</script>\n\n-->",
	"<!-->*x*<img src=x onerror=alert(1)>", "<![CDATA[<script>alert(1)</script>]]>", "<?xml-stylesheet href='javascript:alert(1)'?><script>alert(1)</script>", "<?><img src=x onerror=alert(1)>",
	"<!DOCTYPE x [<!ENTITY y '<script>'>]>&y;", "<!x><script>alert(1)</script>", "</ x><script>alert(1)</script>", "<%<img src=x onerror=alert(1)>%>", "<//b onclick=alert(1)>",
	// Bytes and letters.
	"<scr\x00ipt>alert(1)</script>", "<\x00script>alert(1)</script>", "<img src=x\x00 onerror=alert(1)>", "<img\x0csrc=x\x0conerror=alert(1)>", "<img\x0bsrc=x onerror=alert(1)>",
	"＜script＞alert(1)＜/script＞", "<ſcript>alert(1)</ſcript>", "<scrİpt>alert(1)</scrİpt>", "\ufeff<script>alert(1)</script>", "<img src=x onerror\u2028=alert(1)>",
	"\xc0\xbcscript\xc0\xbealert(1)", "<b\xff onclick=alert(1)>", "+ADw-script+AD4-alert(1)", "<a href=\"\u202ejavascript:alert(1)\">x</a>", "\u202e<b>x", "<b\u00a0onclick=alert(1)>",
	// References that hold something else.
	"@<script>alert(1)</script>", "@a\"onclick=alert(1)", "#1<script>", "o/r#1\"><script>alert(1)</script>", "@alice<img src=x onerror=alert(1)>#1", "<b title='@alice #1'>", "[@alice](javascript:alert(1))",
}
