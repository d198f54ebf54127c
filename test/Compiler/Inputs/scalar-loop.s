f:
	xorl	%eax, %eax
.LBB0_1:
	movss	(%rdi,%rax,4), %xmm0
	callq	half
	incq	%rax
	cmpq	%rsi, %rax
	jb	.LBB0_1
	retq
	.size	f, .-f
