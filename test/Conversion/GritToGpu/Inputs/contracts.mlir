// decode and matmul of every registered contract, for tests that compile them all.

func.func @decode_mxfp4(%a: !grit.array<?x256x#grit.grade<mxfp4>>, %init: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %r = grit.decode ins(%a : !grit.array<?x256x#grit.grade<mxfp4>>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
func.func @matmul_mxfp4(%x: tensor<?x256xbf16>, %w: !grit.array<?x256x#grit.grade<mxfp4>>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x256xbf16>, !grit.array<?x256x#grit.grade<mxfp4>>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @decode_mxfp4_rne(%a: !grit.array<?x256x#grit.grade<mxfp4_rne>>, %init: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %r = grit.decode ins(%a : !grit.array<?x256x#grit.grade<mxfp4_rne>>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
func.func @matmul_mxfp4_rne(%x: tensor<?x256xbf16>, %w: !grit.array<?x256x#grit.grade<mxfp4_rne>>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x256xbf16>, !grit.array<?x256x#grit.grade<mxfp4_rne>>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @decode_nvf4(%a: !grit.array<?x256x#grit.grade<nvf4>>, %init: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %r = grit.decode ins(%a : !grit.array<?x256x#grit.grade<nvf4>>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
func.func @matmul_nvf4(%x: tensor<?x256xbf16>, %w: !grit.array<?x256x#grit.grade<nvf4>>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x256xbf16>, !grit.array<?x256x#grit.grade<nvf4>>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @decode_nvf4_rtz(%a: !grit.array<?x256x#grit.grade<nvf4_rtz>>, %init: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %r = grit.decode ins(%a : !grit.array<?x256x#grit.grade<nvf4_rtz>>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
func.func @matmul_nvf4_rtz(%x: tensor<?x256xbf16>, %w: !grit.array<?x256x#grit.grade<nvf4_rtz>>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x256xbf16>, !grit.array<?x256x#grit.grade<nvf4_rtz>>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @decode_q4ks(%a: !grit.array<?x256x#grit.grade<q4ks>>, %init: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %r = grit.decode ins(%a : !grit.array<?x256x#grit.grade<q4ks>>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
func.func @matmul_q4ks(%x: tensor<?x256xbf16>, %w: !grit.array<?x256x#grit.grade<q4ks>>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x256xbf16>, !grit.array<?x256x#grit.grade<q4ks>>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @decode_i8s24(%a: !grit.array<?x256x#grit.grade<i8s24>>, %init: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %r = grit.decode ins(%a : !grit.array<?x256x#grit.grade<i8s24>>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
func.func @matmul_i8s24(%x: tensor<?x256xbf16>, %w: !grit.array<?x256x#grit.grade<i8s24>>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x256xbf16>, !grit.array<?x256x#grit.grade<i8s24>>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @decode_gguf_q4_0(%a: !grit.array<?x256x#grit.format<gguf.q4_0>>, %init: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %r = grit.decode ins(%a : !grit.array<?x256x#grit.format<gguf.q4_0>>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
func.func @matmul_gguf_q4_0(%x: tensor<?x256xbf16>, %w: !grit.array<?x256x#grit.format<gguf.q4_0>>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x256xbf16>, !grit.array<?x256x#grit.format<gguf.q4_0>>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @decode_gguf_q4_k(%a: !grit.array<?x256x#grit.format<gguf.q4_k>>, %init: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %r = grit.decode ins(%a : !grit.array<?x256x#grit.format<gguf.q4_k>>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
func.func @matmul_gguf_q4_k(%x: tensor<?x256xbf16>, %w: !grit.array<?x256x#grit.format<gguf.q4_k>>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x256xbf16>, !grit.array<?x256x#grit.format<gguf.q4_k>>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @decode_gguf_q8_0(%a: !grit.array<?x256x#grit.format<gguf.q8_0>>, %init: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %r = grit.decode ins(%a : !grit.array<?x256x#grit.format<gguf.q8_0>>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
func.func @matmul_gguf_q8_0(%x: tensor<?x256xbf16>, %w: !grit.array<?x256x#grit.format<gguf.q8_0>>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x256xbf16>, !grit.array<?x256x#grit.format<gguf.q8_0>>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @decode_gguf_mxfp4(%a: !grit.array<?x256x#grit.format<gguf.mxfp4>>, %init: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %r = grit.decode ins(%a : !grit.array<?x256x#grit.format<gguf.mxfp4>>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
func.func @matmul_gguf_mxfp4(%x: tensor<?x256xbf16>, %w: !grit.array<?x256x#grit.format<gguf.mxfp4>>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x256xbf16>, !grit.array<?x256x#grit.format<gguf.mxfp4>>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @decode_gguf_iq4_nl(%a: !grit.array<?x256x#grit.format<gguf.iq4_nl>>, %init: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %r = grit.decode ins(%a : !grit.array<?x256x#grit.format<gguf.iq4_nl>>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
func.func @matmul_gguf_iq4_nl(%x: tensor<?x256xbf16>, %w: !grit.array<?x256x#grit.format<gguf.iq4_nl>>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x256xbf16>, !grit.array<?x256x#grit.format<gguf.iq4_nl>>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @decode_hurray_nf4(%a: !grit.array<?x256x#grit.format<hurray.nf4>>, %init: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %r = grit.decode ins(%a : !grit.array<?x256x#grit.format<hurray.nf4>>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
func.func @matmul_hurray_nf4(%x: tensor<?x256xbf16>, %w: !grit.array<?x256x#grit.format<hurray.nf4>>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = grit.matmul ins(%x, %w : tensor<?x256xbf16>, !grit.array<?x256x#grit.format<hurray.nf4>>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
