// error: quotients, means and totals of decimal numbers aren't exact: cast(to: Double.self) first
import Foundation
import Larder

func halves(_ price: SQLExpression<Decimal>) -> SQLExpression<Decimal> { price / 2 }
