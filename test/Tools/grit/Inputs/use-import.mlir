  func.func @decoded() -> tensor<8x512xf32> {
    %w = call @layer.0.weight() : () -> !grit.array<8x512x#grit.grade<nvf4>>
    %y = tensor.empty() : tensor<8x512xf32>
    %r = grit.decode ins(%w : !grit.array<8x512x#grit.grade<nvf4>>) outs(%y : tensor<8x512xf32>) -> tensor<8x512xf32>
    return %r : tensor<8x512xf32>
  }
