"""The forward pass against transformers, gradients against finite differences, Muon against linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
transformers = pytest.importorskip("transformers", reason="training needs transformers: pip install 'paraloom[train]'")

from paraloom.mt.muon import Muon, orthogonalize  # noqa: E402
from paraloom.mt.network import EMBEDDING, Forward, Shape, SmoothedCrossEntropy  # noqa: E402


@pytest.fixture(scope="module", params=["relu", "swish"])
def marian(request: pytest.FixtureRequest) -> object:
    torch.manual_seed(0)
    config = transformers.MarianConfig(
        vocab_size=40,
        decoder_vocab_size=40,
        d_model=16,
        encoder_layers=2,
        decoder_layers=2,
        encoder_ffn_dim=24,
        decoder_ffn_dim=24,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        activation_function=request.param,
        max_position_embeddings=32,
        pad_token_id=39,
        decoder_start_token_id=39,
        eos_token_id=0,
        scale_embedding=True,
        init_std=0.3,
    )
    return transformers.MarianMTModel(config).eval()


def test_forward_equals_transformers(marian: object) -> None:
    source = torch.tensor([[3, 4, 5, 0], [6, 7, 0, 39]])
    target = torch.tensor([[39, 8, 9], [39, 10, 11]])
    mask = source != 39
    parameters = dict(marian.named_parameters())
    positions = marian.model.encoder.embed_positions.weight
    with torch.no_grad():
        ours = Forward(Shape.from_config(marian.config), parameters, positions)(source, mask, target)
        theirs = marian.model(
            input_ids=source, attention_mask=mask.long(), decoder_input_ids=target, use_cache=False
        ).last_hidden_state
    torch.testing.assert_close(ours, theirs, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("rows", [2, 512])
def test_loss_and_gradients_equal_those_of_autograd(smoothing: float, rows: int) -> None:
    torch.manual_seed(1)
    states = torch.randn(5, 8, requires_grad=True)
    embedding = torch.randn(11, 8, requires_grad=True)
    words = torch.tensor([0, 3, 3, 10, 7])
    ours = SmoothedCrossEntropy.apply(states, embedding, words, smoothing, rows)
    (ours * 0.5).backward()
    gradients = states.grad.clone(), embedding.grad.clone()
    states.grad = embedding.grad = None
    expected = torch.nn.functional.cross_entropy(
        states @ embedding.t(), words, label_smoothing=smoothing, reduction="sum"
    )
    (expected * 0.5).backward()
    torch.testing.assert_close(ours, expected)
    torch.testing.assert_close(gradients, (states.grad, embedding.grad))


def test_gradient_equals_finite_differences(marian: object) -> None:
    parameters = {name: p.detach().double().requires_grad_() for name, p in marian.named_parameters()}
    positions = marian.model.encoder.embed_positions.weight.detach().double()
    source, target = torch.tensor([[3, 4, 0]]), torch.tensor([[39, 8, 9]])
    words = torch.tensor([8, 9, 0])

    def loss() -> torch.Tensor:
        states = Forward(Shape.from_config(marian.config), parameters, positions)(source, source != 39, target)
        return torch.nn.functional.cross_entropy(states[0] @ parameters[EMBEDDING].t(), words)

    loss().backward()
    for name in ("model.encoder.layers.0.self_attn.q_proj.weight", "model.decoder.layers.1.encoder_attn.k_proj.weight"):
        weight = parameters[name]
        with torch.no_grad():
            before = weight[1, 2].item()
            ends = []
            for step in (1e-5, -1e-5):
                weight[1, 2] = before + step
                ends.append(loss().item())
            weight[1, 2] = before
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(weight.grad[1, 2].item(), rel=1e-3, abs=1e-8)


def test_dropout_rate_and_mean(marian: object) -> None:
    forward = Forward(Shape.from_config(marian.config), {}, torch.empty(0), 0.25, torch.Generator().manual_seed(1))
    dropped = forward._drop(torch.ones(1000, 100))
    assert float((dropped == 0).float().mean()) == pytest.approx(0.25, abs=0.005)
    assert float(dropped.mean()) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 8, 20), (2, 20, 8)])
def test_orthogonalize_gives_singular_values_near_one(shape: tuple[int, int, int], precision: torch.dtype) -> None:
    # Matrices with given singular values: they decide what becomes of them, whatever the singular vectors.
    torch.manual_seed(2)
    left, right = (torch.linalg.qr(torch.randn(shape[0], size, 8))[0] for size in shape[1:])
    matrices = left * torch.linspace(0.2, 3, 8) @ right.transpose(1, 2)
    result = orthogonalize(matrices.to(precision), steps=5).float()
    assert result.shape == matrices.shape
    values = torch.linalg.svdvals(result)
    # The coefficients trade exactness for speed: singular values end between 0.5 and 1.3, none near 0.
    assert float(values.min()) > 0.4 and float(values.max()) < 1.3
    # Directions are kept: the cosine with U·Vᵀ, the exact answer, is large.
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    cosine = torch.nn.functional.cosine_similarity((u @ v).flatten(1), result.flatten(1))
    assert float(cosine.min()) > 0.95


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_muon_finds_the_least_squares_solution(precision: torch.dtype) -> None:
    rng = np.random.default_rng(3)
    inputs = torch.tensor(rng.normal(size=(64, 6)), dtype=torch.float32)
    wanted = torch.tensor(rng.normal(size=(6, 4)), dtype=torch.float32)
    weight = torch.zeros(6, 4)
    muon = Muon([weight], precision=precision)
    for step in range(300):
        weight.grad = inputs.t() @ (inputs @ weight - inputs @ wanted) / 64
        muon.step(0.05 * (1 - step / 300), lambda pieces: [piece() for piece in pieces])
    torch.testing.assert_close(weight, wanted, atol=0.02, rtol=0)
